import { describe, expect, test } from 'vitest'
import { negotiateFormat } from '../../../../collector/api/http/negotiateFormat.ts'

describe('the form of an answer', () => {
  test.each([
    [undefined, 'json'],
    ['', 'json'],
    ['*/*', 'json'],
    ['application/json', 'json'],
    ['application/json, text/plain, */*', 'json'],
    ['application/x-ndjson', 'ndjson'],
    ['APPLICATION/X-NDJSON; charset=utf-8', 'ndjson'],
    ['text/csv', 'csv'],
    ['text/*', 'csv'],
    ['text/csv, */*', 'csv'],
    ['text/csv;q=0.5, application/x-ndjson;q=0.8', 'ndjson'],
    ['text/csv;q=0.5, */*', 'json'],
    ['application/json;q=0, */*', 'ndjson'],
    ['text/html,application/xhtml+xml', 'json'],
    ['text/csv;q=0', 'json'],
    ['nonsense;q=x', 'json'],
  ])('for %s is %s', (accept, format) => expect(negotiateFormat(accept)).toBe(format))

  test.each(['application/json;q=0', '*/*;q=0', 'application/*;q=0, text/html'])(
    'for %s there is none',
    (accept) => {
      expect(() => negotiateFormat(accept)).toThrow(
        expect.objectContaining({ status: 406, code: 'not_acceptable' }),
      )
    },
  )
})
