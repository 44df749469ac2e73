import { mkdtempSync } from 'node:fs'
import { createClient } from '@clickhouse/client'
import { startLocalClickHouse } from '../collector/platform/clickhouse/local.ts'
import { openStream, outputSettings } from '../collector/platform/clickhouse/stream.ts'
const dir = mkdtempSync('/dev/shm/b-bench-')
const server = await startLocalClickHouse(dir, () => {}, {})
const url = server.url
const client = createClient({ url, keep_alive: { idle_socket_ttl: 2000 }, max_open_connections: 64, log: { level: 127 } })
const cpu = () => { const u = process.cpuUsage(); return (u.user + u.system) / 1000 }
const median = (a: number[]) => a.sort((x, y) => x - y)[a.length >> 1]!
const row = "concat('x', toString(number)) AS a, repeat('y', 400) AS b, number AS c, generateUUIDv4() AS d"
const drain = async (body: AsyncIterable<Buffer>) => { let n = 0; for await (const p of body) n += p.length; return n }
for (const [rows, times] of [[100, 60], [1000, 40], [10_000, 12]] as const) {
  const sql = `SELECT ${row} FROM numbers({n:UInt32})`
  const ours = async () => { const t = performance.now(); const c = cpu(); let n = 0; for (let i = 0; i < times; i++) { const r = await openStream(url, 'default', { sql, params: { n: rows } }, 'JSONEachRow'); n += await drain(r.body as never) } return [(performance.now() - t) / times, (cpu() - c) / times, n / times] as const }
  const theirs = async () => { const t = performance.now(); const c = cpu(); let n = 0; for (let i = 0; i < times; i++) {
    const r = await client.exec({ query: sql, query_params: { n: rows }, clickhouse_settings: { default_format: 'JSONEachRow', buffer_size: 16 * 1024 * 1024, readonly: '2', cancel_http_readonly_queries_on_client_close: 1, wait_end_of_query: 1, ...outputSettings } as never })
    if (!r.summary?.result_rows) throw new Error('no summary'); n += await drain(r.stream as never) } return [(performance.now() - t) / times, (cpu() - c) / times, n / times] as const }
  await ours(); await theirs(); const w: number[] = [], c: number[] = [], ow: number[] = [], oc: number[] = [], tw: number[] = [], tc: number[] = []
  let bytes = 0
  for (let i = 0; i < 11; i++) { const a = await ours(); const b = await theirs(); bytes = a[2]; if (a[2] !== b[2]) throw new Error('differs'); w.push(b[0] / a[0]); c.push(b[1] / a[1]); ow.push(a[0]); oc.push(a[1]); tw.push(b[0]); tc.push(b[1]) }
  console.log(rows, 'rows', bytes, 'bytes: wall ms ours', median(ow).toFixed(2), 'client', median(tw).toFixed(2), 'ratio', median(w).toFixed(3), '| CPU ms ours', median(oc).toFixed(2), 'client', median(tc).toFixed(2), 'ratio', median(c).toFixed(3))
}
await client.close(); await server.stop(); process.exit()
