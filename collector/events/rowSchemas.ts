import type { TSchema } from 'typebox'
import { isProfileField, selectableAt, type Tier, tiers } from '../../schemas/fields.ts'
import { selectableRow } from '../api/http/rowSchemas.ts'

/** The suffix of each tier in names of operations and types. */
export const tierNames: Record<Tier, string> = {
  web_event: '',
  resolution_hem: 'WithHem',
  resolution_hem_pte: 'WithPte',
  resolution_full_profile: 'WithFullProfile',
}

/** The row of an event at each tier: profile fields only for resolved events. */
export const eventRows = Object.fromEntries(
  tiers.map((tier): [string, TSchema] => {
    const fields = selectableAt(tier)
    const row = selectableRow({
      title: `Event${tierNames[tier]}`,
      fields,
      always: fields.filter((field) => !isProfileField(field) && !field.isOnlyNamed),
      description: fields.some(isProfileField)
        ? 'An event. If its visitor was identified, it also has profile fields, null if unknown. session_id and is_entry are present only if select names them.'
        : 'An event. session_id and is_entry are present only if select names them.',
    })
    return [tier, row]
  }),
) as Record<Tier, TSchema>
