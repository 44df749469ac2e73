import { expect, test } from 'vitest'
import {
  labelOfPreview,
  previewFields,
  previewValue,
} from '../../../collector/dashboard/web/pages/intent/previewFields.ts'

const person = {
  score: 67,
  topics: [{ topic: 'ceramics_and_pottery', score: 67 }],
  hem: 'e***',
  pte_person_id: '9***',
  middle_name: null,
  full_name: 'Y***',
  job_is_decision_maker: true,
  email_verified_at: '2025-03-09T00:00:00.000Z',
  job_country: 'CA',
  company_name: 'Silverward Properties',
}

test('a preview begins with names, companies and topics, ends with ids, and omits empty fields', () => {
  const shown = previewFields([person]).map((name) => [
    labelOfPreview(name),
    previewValue(person, name),
  ])
  expect(shown).toEqual([
    ['Name', 'Y***'],
    ['Company name', 'Silverward Properties'],
    ['Topics', 'Ceramics and pottery'],
    ['Score', 67],
    ['Job is decision maker', 'yes'],
    ['E-mail verified at', 'Mar 9, 2025'],
    ['Job country', 'Canada'],
    ['Hashed e-mail', 'e***'],
    ['Ad exchange person id', '9***'],
  ])
})
