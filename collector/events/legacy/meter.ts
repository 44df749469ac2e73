import { type Field, hem, tiers } from '../../../schemas/fields.ts'
import { type Meter, meterOfTier } from '../../billing/meters.ts'
import type { EventsPlan } from '../query/page/eventsPlan.ts'

/** The rank of the highest tier among fields. */
const tierOf = (fields: readonly Field[]): number =>
  Math.max(0, ...fields.map(({ tier }) => tiers.indexOf(tier)))

/** Returns the meter of rows with these fields: that of the highest tier among them (spec: Metering 6). */
export const meterOf = (fields: readonly Field[]): Meter =>
  meterOfTier[tiers.findLast((tier) => fields.some((field) => field.tier === tier)) ?? 'web_event']

/** Returns the meters that rows with some of `fields` may have, lowest first; all have the fields `named`. */
export const metersOf = (named: readonly Field[], fields: readonly Field[]): Meter[] =>
  tiers.slice(tierOf(named), tierOf([...named, ...fields]) + 1).map((tier) => meterOfTier[tier])

/**
 * Returns the meter of rows, each a JSON object with these fields. Fields with a value in any row count like
 * `named` ones. It stops at the first row with a field of the highest price. Rows of anonymous visitors have
 * no such field.
 */
export function meterOfRows(
  rows: readonly string[],
  { fields, named }: { fields: readonly Field[]; named: readonly Field[] },
): Meter {
  const counted = new Set(named)
  const dearest = meterOf(fields)
  for (const row of rows) {
    if (meterOf([...counted]) === dearest) break
    // Inside a text value, the quotation marks would follow backslashes.
    if (row.includes(`"${hem.name}":null`)) continue
    const values = JSON.parse(row) as Record<string, unknown>
    for (const field of fields) if (values[field.name] != null) counted.add(field)
  }
  return meterOf([...counted])
}

/** The fields that determine the rows count like selected ones: a search reveals the identity. */
export const decidingFields = ({
  filters,
  distinct,
}: Pick<EventsPlan, 'filters' | 'distinct'>): Field[] => [
  ...filters.flatMap(({ field }) => field ?? []),
  ...distinct,
]
