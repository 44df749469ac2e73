import { type Field, tiers } from '../../../schemas/fields.ts'
import { type Meter, meterOfTier } from '../../billing/meters.ts'
import type { EventsPlan } from '../../query/selection.ts'

/** What rows that have these fields are charged as: the highest tier among them decides (spec: Metering 6). */
export const meterOf = (fields: readonly Field[]): Meter =>
  meterOfTier[tiers.findLast((tier) => fields.some((field) => field.tier === tier)) ?? 'web_event']

/** The fields that have a value in any of these rows. */
export const returnedFields = (
  fields: readonly Field[],
  rows: readonly Record<string, unknown>[],
): readonly Field[] => fields.filter(({ name }) => rows.some((row) => row[name] != null))

/**
 * The fields that decide which rows are returned. They count like selected ones: rows found by an address tell whose
 * they are, whatever their columns are.
 */
export const decidingFields = ({
  filters,
  distinct,
}: Pick<EventsPlan, 'filters' | 'distinct'>): readonly Field[] => [
  ...filters.flatMap(({ field }) => field ?? []),
  ...distinct,
]
