import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openEvents } from './harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
beforeAll(async () => {
  events = await openEvents()
})
afterAll(() => events.close())

const page = 'events/web_event'
const counts = 'events/web_event/counts'
const id = randomUUID()

describe('400 names the parameter', () => {
  test.each([
    [page, 'nothing=1', 'nothing', 'there is no such parameter'],
    [page, '__proto__=1', '__proto__', 'there is no such parameter'],
    [page, 'offset=1', 'offset', 'there is no such parameter'],
    [page, 'group_by=day', 'group_by', 'there is no such parameter'],
    [page, 'limit=1&limit=2', 'limit', 'more than once'],
    [page, `project_id=${id}x`, 'project_id', 'must be a UUID'],
    [page, 'project_id=', 'project_id', 'must be a UUID'],
    [page, 'pixel_id=1', 'pixel_id', 'must be a UUID'],
    [page, 'campaign_id=', 'campaign_id', 'must not be empty'],
    [page, 'source=web', 'source', 'must be "pixel" or "svcdsp"'],
    [page, 'limit=0', 'limit', 'from 1 to 10000'],
    [page, 'limit=10001', 'limit', 'from 1 to 10000'],
    [page, 'limit=1.5', 'limit', 'from 1 to 10000'],
    [page, 'limit=-1', 'limit', 'from 1 to 10000'],
    [page, 'limit=', 'limit', 'from 1 to 10000'],
    [page, 'select=', 'select', 'there is no field ""'],
    [page, 'select=event_id,nothing', 'select', 'there is no field "nothing"'],
    [page, 'select=event_id,hem', 'select', '"hem"'],
    [page, 'select=spool_id', 'select', '"spool_id"'],
    [page, 'select=event_id,event_type,event_id', 'select', 'names "event_id" twice'],
    [page, 'select=*', 'select', '"*"'],
    [page, 'distinct=nothing', 'distinct', '"nothing"'],
    [page, 'distinct=event_id,event_id', 'distinct', 'twice'],
    [page, 'filter=', 'filter', 'must be field:op:value'],
    [page, 'filter=event_type:is:click', 'filter', 'the operator must be one of'],
    [page, 'filter=hem:eq:x', 'filter', 'hem'],
    [page, 'filter=resolved:eq:maybe', 'filter', '"resolved:eq:maybe"'],
    [page, 'start_ms=1&start_time=2026-01-01', 'start_time', 'cannot be combined'],
    [page, 'end_ms=1&end_time=2026-01-01', 'end_time', 'cannot be combined'],
    [page, 'start_ms=2&end_ms=1', 'start_ms', 'must end after it starts'],
    [page, 'start_time=soon', 'start_time', 'RFC 3339'],
    [page, 'cursor=abc', 'cursor', 'must be a next_cursor'],
    [page, 'cursor=', 'cursor', 'must be a next_cursor'],
    [counts, 'select=event_id', 'select', 'there is no such parameter'],
    [counts, 'cursor=abc', 'cursor', 'there is no such parameter'],
    [counts, 'group_by=week', 'group_by', '"week"'],
    [counts, 'group_by=', 'group_by', '""'],
    [counts, 'group_by=day,day', 'group_by', 'twice'],
    [counts, 'distinct=nothing', 'distinct', '"nothing"'],
    [counts, 'limit=10001', 'limit', 'from 1 to 10000'],
    ['events/web_event/schema', 'limit=1', 'limit', 'there is no such parameter'],
    ['events_schema', 'source=web', 'source', 'must be "pixel" or "svcdsp"'],
    ['events_schema', 'project_id=1', 'project_id', 'must be a UUID'],
  ])('%s?%s', async (path, query, parameter, message) => {
    const answer = await events.app.inject(`/api/v3/${path}?${query}`)
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toEqual({
      error: 'invalid_parameter',
      code: 'invalid_parameter',
      message: expect.stringContaining(message),
      parameter,
      request_id: expect.any(String),
    })
    expect(answer.json().message).toContain(parameter)
  })

  test('for a malformed X-Project-Id, and one that differs from project_id', async () => {
    const malformed = await events.get(page, {}, { 'x-project-id': 'mine' })
    expect(malformed.json()).toMatchObject({
      error: 'invalid_parameter',
      parameter: 'X-Project-Id',
    })
    const different = await events.get(page, { project_id: id }, { 'x-project-id': randomUUID() })
    expect(different.json()).toMatchObject({ error: 'invalid_parameter', parameter: 'project_id' })
  })
})

describe('404', () => {
  test.each(['events', 'events/full_profile', 'events/web_event/visitors'])(
    '/api/v3/%s is not routed',
    async (path) => {
      const answer = await events.get(path)
      expect(answer.statusCode).toBe(404)
      expect(answer.json()).toMatchObject({ error: 'not_found' })
    },
  )
})

test('406 when Accept rules out every form', async () => {
  const answer = await events.get(page, {}, { accept: 'application/json;q=0' })
  expect(answer.statusCode).toBe(406)
  expect(answer.json()).toMatchObject({ error: 'not_acceptable' })
})
