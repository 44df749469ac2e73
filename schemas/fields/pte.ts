import { profileFields } from './profileField.ts'

const { text } = profileFields('pte', 'resolution_hem_pte')

/** The pseudonymous identifiers that third-party exchanges know a person by. */
export const pteFields = [
  text(
    'pte_person_id',
    'The person in the exchange’s graph; the same for all of their addresses and devices.',
  ),
  text('pte_household_id', 'The household the person lives in, in the exchange’s graph.'),
  text(
    'maid',
    'Mobile advertising id of the person’s latest device: Apple’s IDFA or Google’s GAID, a uuid.',
  ),
  text('uid2', 'Unified ID 2.0 raw UID, base64.'),
  text('id5_id', 'ID5 universal id.'),
  text('ramp_id', 'RampID, the person-based id of LiveRamp.'),
]
