import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { strictObject } from '../../../../collector/api/http/commonSchemas.ts'
import { ApiError } from '../../../../collector/api/http/errors.ts'
import {
  isoToMs,
  readWindow as readChecked,
  readWindowOfDays,
  windowQuery,
} from '../../../../collector/events/query/window/window.ts'
import { checkedQuery } from '../../../harness/checkedQuery.ts'

type Given = Record<string, string | undefined>

/** The window of a request with these parameters. */
const readWindow = (given: Given, nowMs: number, includesEnd?: boolean) => {
  const sent = Object.fromEntries(Object.entries(given).filter(([, text]) => text !== undefined))
  return readChecked(checkedQuery(strictObject(windowQuery), sent), nowMs, includesEnd)
}

const now = Date.UTC(2026, 0, 31, 12)
const day = 86_400_000
const noon = Date.UTC(2026, 0, 30, 12)

describe('a window', () => {
  test.each<[string, Given, number, number]>([
    ['is the last 24 hours by default', {}, now - day, now],
    ['reaches up to now without an end', { start_ms: String(noon) }, noon, now],
    ['is 24 hours long without a start', { end_ms: String(noon) }, noon - day, noon],
    ['takes milliseconds', { start_ms: '0', end_ms: '1' }, 0, 1],
    ['reaches before 1970', { start_ms: '-5', end_ms: '5' }, -5, 5],
    [
      'takes dates as midnights in UTC',
      { start_time: '2026-01-30', end_time: '2026-01-31' },
      noon - day / 2,
      noon + day / 2,
    ],
    ['takes RFC 3339 in UTC', { start_time: '2026-01-30T12:00:00Z' }, noon, now],
    [
      'takes fractions, cut to milliseconds',
      { start_time: '2026-01-30T12:00:00.1239Z' },
      noon + 123,
      now,
    ],
    ['takes short fractions', { start_time: '2026-01-30T12:00:00.5Z' }, noon + 500, now],
    ['takes offsets', { start_time: '2026-01-30T14:30:00+02:30' }, noon, now],
    [
      'takes an offset whose plus was decoded to a space',
      { start_time: '2026-01-30T14:30:00 02:30' },
      noon,
      now,
    ],
    ['takes Unix seconds', { start_time: String(noon / 1000) }, noon, now],
    ['takes Unix seconds with a fraction', { start_time: `${noon / 1000}.25` }, noon + 250, now],
    ['takes Unix milliseconds', { start_time: String(noon) }, noon, now],
    [
      'mixes milliseconds and times',
      { start_ms: String(noon), end_time: '2026-01-31' },
      noon,
      noon + day / 2,
    ],
  ])('%s', (_, given, startMs, endMs) => expect(readWindow(given, now)).toEqual({ startMs, endMs }))

  test.each<[string, Given, number]>([
    ['its last millisecond', { end_ms: '4' }, 5],
    ['an instant', { end_time: '2026-01-30T12:00:00Z' }, noon + 1],
    ['a second, which names its first millisecond', { end_time: String(noon / 1000) }, noon + 1],
    ['the whole of a day', { end_time: '2026-01-30' }, noon + day / 2],
  ])('can include its end: %s', (_, given, endMs) => {
    expect(readWindow({ start_ms: '0', ...given }, now, true)).toEqual({ startMs: 0, endMs })
  })

  test('that includes its end may begin there', () => {
    expect(readWindow({ start_ms: '5', end_ms: '5' }, now, true)).toEqual({ startMs: 5, endMs: 6 })
    expect(readWindow({ start_ms: '5' }, now, true)).toEqual({ startMs: 5, endMs: now })
  })

  test('takes numbers for milliseconds from 1e11 on', () => {
    expect(readWindow({ start_time: '100000000000' }, now).startMs).toBe(1e11)
    expect(readWindow({ end_time: '99999999999' }, now).endMs).toBe(99_999_999_999_000)
  })

  test.each<[string, Given, string]>([
    ['start_ms with start_time', { start_ms: '1', start_time: '2026-01-30' }, 'start_time'],
    ['end_ms with end_time', { end_ms: '1', end_time: '2026-01-30' }, 'end_time'],
    ['an end before the start', { start_ms: '5', end_ms: '4' }, 'start_ms'],
    ['an end at the start', { start_time: '2026-01-30', end_time: '2026-01-30' }, 'start_time'],
    ['a start in the future', { start_ms: String(now + 1) }, 'start_ms'],
    ['a fraction of a millisecond', { start_ms: '1.5' }, 'start_ms'],
    ['words for milliseconds', { end_ms: 'now' }, 'end_ms'],
    ['nothing for milliseconds', { end_ms: '' }, 'end_ms'],
    ['words for a time', { start_time: 'yesterday' }, 'start_time'],
    ['nothing for a time', { start_time: '' }, 'start_time'],
    ['a time without an offset', { start_time: '2026-01-30T12:00:00' }, 'start_time'],
    ['30 February', { start_time: '2026-02-30' }, 'start_time'],
    ['24 o’clock', { start_time: '2026-01-30T24:00:00Z' }, 'start_time'],
    ['an offset that does not exist', { start_time: '2026-01-30T12:00:00+99:00' }, 'start_time'],
    ['a year beyond all years', { end_ms: '9999999999999999' }, 'end_ms'],
  ])('cannot have %s', (_, given, parameter) => {
    expect(() => readWindow(given, now)).toThrow(
      expect.objectContaining({
        status: 400,
        code: 'invalid_parameter',
        extra: { body: { parameter } },
      }),
    )
  })

  test('never fails but with an error for the caller', () => {
    const text = fc.option(
      fc.oneof(fc.string({ unit: 'binary' }), fc.date().map(String), fc.integer().map(String)),
      { nil: undefined },
    )
    const given = fc.record({ start_ms: text, end_ms: text, start_time: text, end_time: text })
    fc.assert(
      fc.property(given, (parameters) => {
        try {
          const { startMs, endMs } = readWindow(parameters, now)
          expect(startMs).toBeLessThan(endMs)
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError)
        }
      }),
    )
  })
})

test('every time that JavaScript writes is read back', () => {
  const dates = fc.date({
    min: new Date('0000-01-01'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  })
  fc.assert(
    fc.property(dates, (date) => {
      expect(isoToMs(date.toISOString())).toBe(date.getTime())
    }),
  )
})

describe('a window of days', () => {
  const lengths = { daysDefault: 30, daysMax: 90 }
  const readDays = (given: Given) =>
    readWindowOfDays(checkedQuery(strictObject(windowQuery), given), now, lengths)

  test('has its default length without a start', () => {
    expect(readDays({})).toEqual({ startMs: now - 30 * day, endMs: now })
  })

  test('may be as long as the limit, and no millisecond longer', () => {
    const startMs = now - 90 * day
    expect(readDays({ start_ms: String(startMs) })).toEqual({ startMs, endMs: now })
    const message = 'must be at most 90 days before the end'
    expect(() => readDays({ start_ms: String(startMs - 1) })).toThrow(`start_ms: ${message}`)
    expect(() => readDays({ start_time: '2025-01-01' })).toThrow(`start_time: ${message}`)
  })
})
