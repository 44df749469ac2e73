import type { Bind } from '../../events/query/bind.ts'
import { leavesOf } from '../definition/leaves.ts'
import { bitOf, type MembersPlan } from './membersPlan.ts'

/** Selects the members of the audiences in leaves; `column` identifies members of this entity. */
export function audienceMatchesQueries(
  { parsed, usedBuilds }: MembersPlan,
  column: 'hem_number' | 'company_domain',
  bind: Bind,
): string[] {
  const leaves = leavesOf(parsed, 'audience').map(({ index, leaf }) => ({
    index,
    build: bind('UUID', usedBuilds.get(leaf.audienceId)!),
  }))
  if (leaves.length === 0) return []
  const builds = leaves.map(({ build }) => build).join(', ')
  return [
    `SELECT ${column} AS member, ${leaves.map(({ index, build }) => bitOf(index, `build_id = ${build}`)).join(' + ')} AS bits
FROM audience_members
WHERE build_id IN (${builds})`,
  ]
}
