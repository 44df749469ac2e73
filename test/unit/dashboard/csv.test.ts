import { expect, test } from 'vitest'
import { csvOf } from '../../../collector/dashboard/web/csv.ts'

test('a table as CSV: quotes are doubled, and no spreadsheet takes a text for a formula', () => {
  const formulas = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1+1', '＠SUM(A1)']
  const rows = [
    ...formulas.map((text) => [text, -1]),
    ['say "no", they said', null],
    ['/pricing', 1.5],
  ]
  expect(csvOf(['page', 'visitors'], rows)).toBe(
    [
      '"page","visitors"',
      ...formulas.map((text) => `"'${text}",-1`),
      '"say ""no"", they said",',
      '"/pricing",1.5',
      '',
    ].join('\r\n'),
  )
})
