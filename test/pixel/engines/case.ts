import type { EngineName } from './engine.ts'
import type { Stage } from './stage.ts'

/** One row of the table: a behavior of the pixel, in every engine with the required features. */
export interface Case {
  name: string
  /** Engines that cannot do it, and why. */
  unsupported?: Partial<Record<EngineName, string>>
  /** For a visitor who has switched on Global Privacy Control in the browser. */
  isPrivate?: true
  run(stage: Stage): Promise<void>
}
