/** GET /openapi.json as a linter reads it that knows nothing of us. */
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect, test } from 'vitest'
import { openTenant } from '../harness/sharedApp.ts'

test('Redocly’s recommended rules find nothing', { timeout: 600_000 }, async () => {
  const { service } = await openTenant()
  const text = await (await fetch(`${service.url}/openapi.json`)).text()
  const config = await createConfig({
    extends: ['recommended'],
    rules: {
      // A row that extends another schema (allOf) has more members than that one.
      'no-invalid-media-type-examples': { severity: 'error', allowAdditionalProperties: true },
    },
  })
  const problems = await lintFromString({ source: text, absoluteRef: '/openapi.json', config })
  expect(
    problems.map(
      ({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`,
    ),
  ).toEqual([])
})
