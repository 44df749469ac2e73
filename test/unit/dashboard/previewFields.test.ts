import { expect, test } from 'vitest'
import {
  previewFields,
  previewValue,
} from '../../../collector/dashboard/web/pages/intent/previewFields.ts'
import { labelOfField } from '../../../collector/dashboard/web/view/labels.ts'

const person = {
  score: 67,
  topics: [{ topic: 'ceramics_and_pottery', score: 67 }],
  hem: '***',
  pte_person_id: '***',
  middle_name: null,
  full_name: '***',
  job_is_decision_maker: true,
  email_verified_at: '2025-03-09T00:00:00.000Z',
  job_country: 'CA',
  company_naics_code: '5311',
  company_name: 'Silverward Properties',
}

test('a preview begins with companies and topics, ends with codes, and omits empty and masked fields', () => {
  const shown = previewFields([person]).map((name) => [
    labelOfField(name),
    previewValue(person, name),
  ])
  expect(shown).toEqual([
    ['Company name', 'Silverward Properties'],
    ['Topics', 'Ceramics and pottery'],
    ['Score', 67],
    ['Job is decision maker', 'yes'],
    ['E-mail verified at', 'Mar 9, 2025'],
    ['Job country', 'Canada'],
    ['Company NAICS code', '5311'],
  ])
})
