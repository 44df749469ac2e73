import { hemNumber } from '../../../schemas/fields.ts'
import type { Bind } from '../../events/query/bind.ts'
import { companyDomains } from '../../identity/store/profileSql.ts'
import { leavesOf } from '../definition/definition.ts'
import type { Kind } from '../lists/kinds.ts'
import { bitOf, type MembersPlan } from './membersPlan.ts'

/**
 * Selects the members of lists: listed people or their companies; listed companies or their employees. The
 * identity graph resolves cookies to people.
 */
export function listMatchesQueries({ parsed, usedLists }: MembersPlan, bind: Bind): string[] {
  const leaves = leavesOf(parsed, 'list').map(({ index, leaf }) => ({
    index,
    list: bind('UUID', leaf.listId),
    kind: usedLists.kinds.get(leaf.listId)!,
  }))
  if (leaves.length === 0) return []
  const notCompleted = bind('Array(UUID)', usedLists.notCompleted)
  return (Object.keys(itemOf) as Kind[]).flatMap((kind) => {
    const some = leaves.filter((leaf) => leaf.kind === kind)
    if (some.length === 0) return []
    const bits = some.map(({ index, list }) => bitOf(index, `list_id = ${list}`)).join(' + ')
    const items = `SELECT ${itemOf[kind]} AS item, ${bits} AS bits FROM list_members
WHERE list_id IN (${some.map(({ list }) => list).join(', ')}) AND import_id NOT IN ${notCompleted}`
    const areCompanies = kind === 'domains'
    if (areCompanies === (parsed.entity === 'companies'))
      return [`SELECT item AS member, bits FROM (${items})`]
    const [member, joined] = areCompanies ? ['_hem_number', 'company'] : ['company', '_hem_number']
    return [
      `SELECT work.${member} AS member, named.bits AS bits
FROM (SELECT _hem_number, assumeNotNull(company_domain) AS company FROM (${companyDomains})) AS work
INNER JOIN (${items}) AS named ON work.${joined} = named.item`,
    ]
  })
}

/** SQL over rows of list_members: the person's hem as a number, or the company's domain. */
const itemOf: Readonly<Record<Kind, string>> = {
  emails: 'hem_number',
  hems: 'hem_number',
  domains: 'company_domain',
  cookies: hemNumber,
}

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
