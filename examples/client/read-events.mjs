// Reads events with footfall-client, in Node: a page of them, then all of them.
// npm install footfall-client; KEY=ff_live_… SECRET=… node read-events.mjs [ADDRESS]
import { ApiError, createClient } from 'footfall-client'

const [baseUrl = 'http://127.0.0.1:8787'] = process.argv.slice(2)
const { KEY: key, SECRET: secret } = process.env
const footfall = createClient({ baseUrl, key, secret })

try {
  const { rows, meta } = await footfall.listEvents({ filter: 'event_type:eq:click', limit: 10 })
  console.log(`The newest clicks: ${rows.length}, of which ${meta.charged} were charged.`)

  const today = new Date().toISOString().slice(0, 10)
  const select = 'timestamp,event_type,page_path'
  // Requests the next page after the rows of the current one.
  for await (const event of footfall.listEvents.all({ start_time: today, order: 'asc', select })) {
    console.log(event.timestamp, event.event_type, event.page_path)
  }
} catch (error) {
  if (!(error instanceof ApiError)) throw error
  console.error(`${error.status} ${error.code}: ${error.message}`)
  process.exitCode = 1
}
