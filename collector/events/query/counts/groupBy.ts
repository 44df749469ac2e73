import { Type } from 'typebox'
import { groupableFields } from '../../../../schemas/fields.ts'
import { invalidParameter } from '../../../api/http/errors.ts'
import { readNames } from '../../../api/http/nameList.ts'
import type { Column } from '../columns.ts'

/** A grouping of counts; `name` is the key in the response. */
export type Group = Readonly<Column>

/** Hour and day, which are computed, url as another name of page_url, and fields. */
const groupings: readonly Group[] = [
  { name: 'hour', sql: 'toStartOfHour(timestamp)' },
  { name: 'day', sql: 'toDate(timestamp)' },
  { name: 'url', sql: 'page_url' },
  ...groupableFields.map(({ name, sql = name }) => ({ name, sql })),
]

const names = groupings.map(({ name }) => name).join(', ')

/** The parameter `group_by`; readGroups reads it. */
export const GroupBy = Type.String({
  description: `Comma-separated: ${names}. Hours and days are in UTC. url is the same as page_url. Without it the answer is one count.`,
})

/** Reads groupings. Throws 400 for fields that would return an event, an address or a person. */
export function readGroups(list: string | undefined): readonly Group[] {
  if (list === undefined) return []
  return readNames('group_by', list).map((name) => {
    const grouping = groupings.find((candidate) => candidate.name === name)
    if (grouping) return grouping
    throw invalidParameter('group_by', `"${name}" must be one of ${names}`)
  })
}
