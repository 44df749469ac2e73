import type { Leaf, Parsed } from './definition.ts'

export const leavesOf = <K extends Leaf['kind']>({ leaves }: Parsed, kind: K) =>
  leaves.flatMap((leaf, index) =>
    leaf.kind === kind ? [{ index, leaf: leaf as Extract<Leaf, { kind: K }> }] : [],
  )
