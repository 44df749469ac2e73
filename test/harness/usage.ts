/** Counts the queries and openings of each test file, for the report of the run (runReport.ts). */
import { subscribe } from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'
import pg from 'pg'
import { inject } from 'vitest'

/** The counts of a file, without those of processes that it started. */
export interface Usage {
  /** Processor time of the test process. */
  processorMs: number
  /** Queries of ClickHouse. */
  queries: number
  /** Those of them that create, change or drop something. */
  ddl: number
  /** Queries of PostgreSQL. */
  postgresQueries: number
  /** Applications other than the one that a worker's files share. */
  apps: number
  /** Databases that only this file uses, in either store. */
  databases: number
  /** Services: processes of the built collector. */
  services: number
}

declare module 'vitest' {
  interface TaskMeta {
    usage?: Usage
  }
}

const none: Usage = {
  processorMs: 0,
  queries: 0,
  ddl: 0,
  postgresQueries: 0,
  apps: 0,
  databases: 0,
  services: 0,
}
/** Since the file began. */
const usage = { ...none }
let processorFrom = process.cpuUsage()

export const countOpening = (kind: 'apps' | 'databases' | 'services', count = 1): void => {
  usage[kind] += count
}

/** Returns the counts of the file that ends, and starts those of the next one. */
export function takeUsage(): Usage {
  const { user, system } = process.cpuUsage(processorFrom)
  const taken = { ...usage, processorMs: (user + system) / 1000 }
  processorFrom = process.cpuUsage()
  Object.assign(usage, none)
  return taken
}

const ddlPattern = /^\s*(CREATE|ALTER|DROP|TRUNCATE|RENAME|ATTACH|DETACH|OPTIMIZE|SYSTEM)\b/i

let isCounting = false

/** Starts to count in this process. Further calls do nothing. */
export function startCounting(): void {
  if (isCounting) return
  isCounting = true
  const { port } = new URL(inject('clickhouseUrl'))
  subscribe('http.client.request.created', (message) => {
    const { request } = message as { request: ClientRequest }
    if (request.getHeader('host') !== `127.0.0.1:${port}`) return
    usage.queries++
    const { write, end } = request
    /** Looks at the first bytes, then leaves the request as it was. */
    const lookFirst = (method: (...given: never[]) => unknown) =>
      ((...given: unknown[]) => {
        if (typeof given[0] === 'string' && ddlPattern.test(given[0])) usage.ddl++
        Object.assign(request, { write, end })
        return Reflect.apply(method, request, given)
      }) as never
    Object.assign(request, { write: lookFirst(write), end: lookFirst(end) })
  })
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
    usage.postgresQueries++
    return Reflect.apply(query, this, given)
  } as typeof query
}
