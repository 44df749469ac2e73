import { visitorTiers } from '../../../collector/events/visitors/visitorsRequest.ts'
import { testRoom } from '../pass.ts'

const people = [
  ...visitorTiers.map((tier) => `GET /api/v3/events/${tier}/visitors`),
  'GET /api/v1/lookup',
  'POST /api/v1/lookup/batch',
  'POST /api/v1/contact/query',
]

testRoom('data', {
  charged: [...people, 'POST /api/v1/analytics/visitors'],
  people: [...people, 'GET /api/v1/resolution/statistics'],
  free: [],
  sampled: 20,
})
