import { profileFields } from './profileField.ts'

const { text } = profileFields('pte', 'resolution_hem_pte')

/** The pseudonymous identifiers that third-party exchanges know a person by. */
export const pteFields = [
  text(
    'pte_person_id',
    'Person in the exchange’s graph. The same for all addresses and devices of the person.',
  ),
  text('pte_household_id', 'Household of the person in the exchange’s graph.'),
  text(
    'maid',
    'Mobile advertising id of the person’s latest device: Apple’s IDFA or Google’s GAID, a UUID.',
  ),
  text('uid2', 'Unified ID 2.0 raw UID, base64.'),
  text('id5_id', 'ID5 universal id.'),
  text('ramp_id', 'RampID, the person-based id of LiveRamp.'),
]
