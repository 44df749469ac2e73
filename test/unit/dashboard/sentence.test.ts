import { describe, expect, test } from 'vitest'
import type { Definition } from '../../../collector/dashboard/web/pages/audiences/draft.ts'
import { sentenceOf } from '../../../collector/dashboard/web/pages/audiences/sentence.ts'
import { isMeasurement, storyOf } from '../../../collector/dashboard/web/view/eventStory.ts'
import { nicknameOf } from '../../../collector/dashboard/web/view/nickname.ts'

const event = {
  event: { event_type: 'page_view', within_days: 30, filter: 'page_path:eq:/pricing' },
}
const definitions: [Definition, string][] = [
  [
    { entity: 'people', include: event },
    'People who have the event “Page view” in the last 30 days where Page is /pricing.',
  ],
  [
    {
      entity: 'companies',
      include: {
        all: [
          { profile: { field: 'company_industry', op: 'in', value: ['Retail', 'Travel'] } },
          {
            any: [
              { intent: { topics: ['golf', 'wine'], min_score: 50 } },
              { list: { list_id: 'l' } },
            ],
          },
        ],
      },
      exclude: { audience: { audience_id: 'a' } },
      limit: 100,
    },
    'Companies who have a Company industry that is one of Retail, Travel and (are interested in golf or wine ' +
      'with a score of at least 50 or are on the list “Customers”), except those who are in the audience “Buyers”, ' +
      'at most 100.',
  ],
  [
    {
      entity: 'people',
      include: { profile: { field: 'job_is_decision_maker', op: 'eq', value: true } },
    },
    'People who have “Job is decision maker: yes” in their profile.',
  ],
  [
    { entity: 'people', include: { not: { event: { within_days: 1, at_least: 2 } } } },
    'People who do not match (have any event at least 2 times in the last 1 day).',
  ],
]

test.each(definitions)('the definition %j is a sentence', (definition, sentence) => {
  expect(sentenceOf(definition, { l: 'Customers', a: 'Buyers' })).toBe(sentence)
})

describe('the story of an event', () => {
  const custom = (name: string, properties: object) => JSON.stringify({ name, properties })
  test.each([
    [
      'custom',
      custom('added_to_cart', { item: 'rye', count: 2, more: { nested: 1 } }),
      'Added to cart',
      'rye · 2',
    ],
    ['click', JSON.stringify({ elementText: 'Buy now' }), 'Clicked', '“Buy now”'],
    [
      'form_submission',
      JSON.stringify({ form: { name: null, id: 'signup' } }),
      'Sent a form',
      '“signup”',
    ],
    ['scroll_depth', JSON.stringify({ threshold: 75 }), 'Scrolled', 'to 75 %'],
    [
      'custom',
      '{"name":"web_vitals","properties":{"name":"LCP","value":2831.8,"rating":"needs-improvement"}}',
      'Measured',
      'LCP 2,832 ms · needs improvement',
    ],
    [
      'custom',
      '{"name":"web_vitals","properties":{"name":"CLS","value":0.0533,"rating":"good"}}',
      'Measured',
      'CLS 0.05 · good',
    ],
    ['custom', 'not JSON', 'Custom event', ''],
    ['unheard_of', null, 'unheard_of', ''],
  ])('of type %s and data %s', (event_type, event_data, action, detail) => {
    expect(storyOf({ event_type, event_data })).toEqual({ action, detail })
  })

  test('of a page view is its page, and a long text is cut', () => {
    expect(storyOf({ event_type: 'page_view', page_path: '/a' })).toEqual({
      action: 'Viewed a page',
      detail: '/a',
    })
    const { detail } = storyOf({ event_type: 'page_view', page_path: `/${'a'.repeat(500)}` })
    expect(detail).toHaveLength(81)
  })
})

test('a visitor has the same nickname wherever their id is', () => {
  const id = '3f2504e0-4f89-41d3-9a0c-0305e82c3301'
  expect(nicknameOf(id)).toMatch(/^[A-Z][a-z]+ [A-Z][a-z]+ [1-9]\d?$/)
  expect(nicknameOf(id)).toBe(nicknameOf(id))
  expect(nicknameOf(id)).not.toBe(nicknameOf('3f2504e0-4f89-41d3-9a0c-0305e82c3302'))
})

test.each([
  ['custom', '{"name":"web_vitals","properties":{"name":"LCP","value":1800}}', true],
  ['custom', '{"name":"signed_up","properties":{}}', false],
  ['search', '{"query":"web_vitals"}', false],
  ['custom', null, false],
])(
  'of an event %s with %s a story says whether a browser measured it',
  (event_type, event_data, is) => {
    expect(isMeasurement({ event_type, event_data })).toBe(is)
  },
)
