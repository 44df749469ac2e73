import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { Deduplicator } from '../../../../collector/ingest/shipper/deduplicator.ts'
import type { LeaseSource } from '../../../../collector/ingest/shipper/shipLeases.ts'
import type { ClickHouse } from '../../../../collector/platform/clickhouse/client.ts'
import { newEventId } from '../../../harness/eventId.ts'
import { row } from '../../../spool/segments.ts'

const startedAt = Date.now()
const minuteMs = 60_000

/** A deduplicator at its start. Comparing ids with its filter uses neither of its dependencies. */
const newDeduplicator = () => new Deduplicator({} as ClickHouse, {} as LeaseSource, () => startedAt)

/** The ids among these events that have to be looked up in ClickHouse. */
const suspectsOf = (deduplicator: Deduplicator, events: [id: string, at: number][]) => {
  const lines = events.map(([id, at]) => `${row(id, at)}\n`)
  return [...deduplicator.inspectIds([Buffer.from(lines.join(''))], lines.length).suspects]
}
/** An event as a pixel captures it, so many minutes after the start. */
const capturedAt = (minutes: number): [id: string, at: number] => {
  const at = startedAt + minutes * minuteMs
  return [newEventId(at), at]
}

test('an event is looked up if an earlier process may have stored it, also by a clock two minutes ahead', () => {
  const old = [capturedAt(-60), capturedAt(-1), capturedAt(0), capturedAt(1.9)]
  const young = [capturedAt(2.1), capturedAt(60)]
  expect(suspectsOf(newDeduplicator(), [...old, ...young])).toEqual(old.map(([id]) => id))
})

test('an event that comes again is looked up, in the same segment or a later one', () => {
  const deduplicator = newDeduplicator()
  const [one, other] = [capturedAt(3), capturedAt(4)]
  expect(suspectsOf(deduplicator, [one, other, one])).toEqual([one[0]])
  expect(suspectsOf(deduplicator, [other, capturedAt(5)])).toEqual([other[0]])
})

test('an id without the time of its event is looked up, because its sender may give it another time', () => {
  const at = startedAt + 10 * minuteMs
  const [chosen, ofAnotherTime] = [randomUUID(), newEventId(at - 3 * minuteMs)]
  const events: [string, number][] = [
    [chosen, at],
    [ofAnotherTime, at],
    [newEventId(at), at],
  ]
  expect(suspectsOf(newDeduplicator(), events)).toEqual([chosen, ofAnotherTime])
})
