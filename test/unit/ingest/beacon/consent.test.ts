import { expect, test } from 'vitest'
import { parseBeacon } from '../../../../collector/ingest/beacon/beacon.ts'

const cookie_id = '0190f0a0-0000-4000-8000-000000000001'
const now = new Date()
const consentIn = (more: object) =>
  parseBeacon(Buffer.from(JSON.stringify({ pixel_id: cookie_id, events: [], ...more }))).consent

test.each([
  ['the pixel’s id is consent', { cookie_id, sent_at: now.getTime() }, true],
  ['the pixel without an id has none', { cookie_id: null, sent_at: now.getTime() }, false],
  ['of another sender the settings decide', { cookie_id, sent_at: now }, undefined],
  ['whoever says no means no', { cookie_id, sent_at: now.getTime(), consent: false }, false],
])('%s', (_name, more, consent) => {
  expect(consentIn(more)).toBe(consent)
})
