import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ApiError } from '../../../../collector/api/http/errors.ts'
import {
  filtersMax,
  operators,
  readFilters,
} from '../../../../collector/events/query/filter/filter.ts'

const id = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'
const read = (text: string) =>
  readFilters(text, 'web_event').map(({ field, ...filter }) =>
    field ? { field: field.name, ...filter } : filter,
  )

describe('a filter', () => {
  test.each<[string, unknown[]]>([
    ['event_type:eq:click', [{ field: 'event_type', op: 'eq', as: 'text', value: 'click' }]],
    [
      'event_type:eq:click,resolved:eq:true',
      [
        { field: 'event_type', op: 'eq', as: 'text', value: 'click' },
        { field: 'resolved', op: 'eq', as: 'boolean', value: true },
      ],
    ],
    [
      'page_url:eq:https://a.example/?q=1,2',
      [{ field: 'page_url', op: 'eq', as: 'text', value: 'https://a.example/?q=1,2' }],
    ],
    ['page_url:like:%a,b:c%,', [{ field: 'page_url', op: 'like', as: 'text', value: '%a,b:c%,' }]],
    [
      'page_url:eq:a, event_type:eq:click',
      [{ field: 'page_url', op: 'eq', as: 'text', value: 'a, event_type:eq:click' }],
    ],
    ['page_url:eq:a,b.c:eq:d', [{ field: 'page_url', op: 'eq', as: 'text', value: 'a,b.c:eq:d' }]],
    ['page_url:eq:', [{ field: 'page_url', op: 'eq', as: 'text', value: '' }]],
    [
      'event_id:eq:0190A1B2-c3d4-7e5f-8a9b-0c1d2e3f4a5b',
      [{ field: 'event_id', op: 'eq', as: 'uuid', value: id }],
    ],
    [`event_id:gt:${id}`, [{ field: 'event_id', op: 'gt', as: 'text', value: id }]],
    ['event_id:like:0190%', [{ field: 'event_id', op: 'like', as: 'text', value: '0190%' }]],
    [
      'ts_millis:gte:-9223372036854775808',
      [{ field: 'ts_millis', op: 'gte', as: 'integer', value: '-9223372036854775808' }],
    ],
    ['ts_millis:lt:007', [{ field: 'ts_millis', op: 'lt', as: 'integer', value: '7' }]],
    [
      'timestamp:gte:1970-01-02',
      [{ field: 'timestamp', op: 'gte', as: 'time', value: 86_400_000 }],
    ],
    [
      'received_at:lt:1970-01-01T00:00:01.5Z',
      [{ field: 'received_at', op: 'lt', as: 'time', value: 1500 }],
    ],
    ['event_data:like:%x%', [{ field: 'event_data', op: 'like', as: 'text', value: '%x%' }]],
    [
      'event_type:in:click|copy',
      [
        {
          field: 'event_type',
          op: 'in',
          as: 'text',
          value: 'click',
          others: [{ as: 'text', value: 'copy' }],
        },
      ],
    ],
    ['event_data.url:eq:a:b', [{ path: ['url'], op: 'eq', as: 'text', value: 'a:b' }]],
    [
      'event_data.element.aria label’s:ne:x,event_data.percentage:gte:-1.5e1',
      [
        { path: ['element', 'aria label’s'], op: 'ne', as: 'text', value: 'x' },
        { path: ['percentage'], op: 'gte', as: 'number', value: -15 },
      ],
    ],
  ])('%s', (text, filters) => expect(read(text)).toEqual(filters))

  test.each([
    ['', 'must be field:op:value'],
    ['event_type', 'must be field:op:value'],
    ['event_type:eq', 'must be field:op:value'],
    [':eq:x', 'must be field:op:value'],
    ['event_data.:eq:x', 'must be field:op:value'],
    ['event_data..url:eq:x', 'must be field:op:value'],
    [`event_data${'.a'.repeat(11)}:eq:x`, 'at most 10 names'],
    ['page_url.path:eq:x', 'must be field:op:value'],
    ['event_type:eq:clik', 'event_type must be one of page_view, click, scroll_depth, copy'],
    ['event_type:ne:clik', 'event_type must be one of page_view'],
    ['event_type:in:click|clik', 'event_type must be one of page_view'],
    ['source:eq:pixels', 'source must be one of pixel, svcdsp'],
    [`page_url:in:${'a|'.repeat(100)}`, 'in must have at most 100 values'],
    ['ts_millis:in:1|x', 'must be a whole number'],
    ['event_type:is:click', 'the operator must be one of eq, ne'],
    ['event_type:EQ:click', 'the operator must be one of eq, ne'],
    ['organization_id:eq:x', 'there is no field organization_id'],
    ['spool_id:eq:x', 'there is no field spool_id'],
    ['__proto__:eq:x', 'there is no field __proto__'],
    ['hem:eq:x', 'hem'],
    ['event_type:eq:click,nothing:eq:x', 'there is no field nothing'],
    ['event_id:eq:x', 'must be a UUID'],
    ['event_id:gt:', 'must be a UUID'],
    ['ts_millis:eq:1.5', 'must be a whole number'],
    ['ts_millis:eq:', 'must be a whole number'],
    ['ts_millis:eq:9223372036854775808', 'must be a 64-bit integer'],
    ['ts_millis:like:1%', 'like requires a text field'],
    [`page_url:like:${'%a'.repeat(11)}`, 'like must have at most 10 "%" (got 11)'],
    ['resolved:eq:yes', 'must be true or false'],
    ['resolved:gt:true', 'use eq or ne'],
    ['is_bot:like:true', 'like requires a text field'],
    ['timestamp:gt:yesterday', 'must be an ISO 8601 time'],
    ['timestamp:gt:1700000000', 'must be an ISO 8601 time'],
    ['event_data.percentage:gt:half', 'must be a number'],
    ['event_data.percentage:gt:1e999', 'must be a number'],
    ['event_data.percentage:gt:0x10', 'must be a number'],
    [
      Array(filtersMax + 1)
        .fill('event_type:eq:x')
        .join(','),
      `at most ${filtersMax} filters`,
    ],
  ])('%s is refused', (text, reason) => {
    expect(() => read(text)).toThrow(
      expect.objectContaining({
        status: 400,
        extra: { body: { parameter: 'filter' } },
        message: expect.stringContaining(reason),
      }),
    )
  })

  test('quotes itself in errors, cut to what can be read', () => {
    expect(() => read('event_id:eq:x')).toThrow('filter: "event_id:eq:x": ')
    expect(() => read(`event_id:eq:${'x'.repeat(5000)}`)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^.{0,260}$/) }),
    )
  })
})

describe('the grammar', () => {
  const anyText = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({
      unit: fc.constantFrom(
        ...`,:.%_\\'"; `,
        'eq',
        'like',
        'event_type',
        'event_data',
        '😀',
        '\n',
        'a',
      ),
    }),
  )
  const beginsAnother = (text: string) =>
    new RegExp(`,(event_data(\\.[^,:.]+)+|\\w+):(${operators.join('|')}):`).test(text)
  const value = anyText.filter((text) => !beginsAnother(text))
  const op = fc.constantFrom('eq', 'ne', 'like')
  const path = fc.array(
    fc.string({ unit: 'binary', minLength: 1 }).filter((text) => !/[,:.]/.test(text)),
    { minLength: 1, maxLength: 10 },
  )
  const onText = fc.record({
    operand: fc.constantFrom('browser', 'page_url', 'user_agent', 'event_data'),
    op,
    value,
  })
  const onPayload = fc.record({
    operand: path.map((segments) => `event_data.${segments.join('.')}`),
    op,
    value,
  })

  test('gives every value back as it was sent', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(onText, onPayload), { minLength: 1, maxLength: 5 }),
        (filters) => {
          const text = filters
            .map(({ operand, op, value }) => `${operand}:${op}:${value}`)
            .join(',')
          // A value may end in what, with the comma after it, is taken for a filter of its own.
          fc.pre(
            text.split(
              new RegExp(`,(?=(?:event_data(?:\\.[^,:.]+)+|\\w+):(?:${operators.join('|')}):)`),
            ).length === filters.length,
          )
          const back = readFilters(text, 'web_event')
          expect(
            back.map(({ field, path, op, value }) => ({
              operand: field?.name ?? ['event_data', ...path!].join('.'),
              op,
              value,
            })),
          ).toEqual(filters)
        },
      ),
    )
  })

  test('never fails but with an error for the caller', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        try {
          readFilters(text, 'web_event')
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError)
        }
      }),
      { numRuns: 1000 },
    )
  })
})
