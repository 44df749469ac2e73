import { afterAll, beforeAll, expect, test } from 'vitest'
import { mailQueues, mailsAtOnce, mailTo } from '../../collector/platform/outbox/mails.ts'
import { openPostgres, type Postgres } from '../../collector/platform/postgres/pool.ts'
import { newPostgresDatabase } from '../harness/databases.ts'
import { jobOf } from '../harness/job.ts'

let postgres: Postgres
beforeAll(async () => {
  postgres = openPostgres(await newPostgresDatabase(), () => {})
})
afterAll(() => postgres.end())

test('mails that the server always refuses do not delay others, and are tried again', async () => {
  const sent: string[] = []
  let isRefusing = true
  const [queue] = mailQueues({
    postgres,
    sendMail: async ({ to }) => {
      if (isRefusing && to.endsWith('.invalid')) throw new Error('550 no such domain')
      sent.push(to)
    },
  })
  const run = () => queue!.run(jobOf(null))
  const mail = (to: string) => mailTo(postgres, to, { subject: 'Hello', text: 'Hello' })
  for (let count = 0; count < mailsAtOnce; count++) await mail(`${count}@nowhere.invalid`)
  await expect(run()).rejects.toThrow('550')
  await mail('ada@example.com')
  await expect(run()).rejects.toThrow('550')
  expect(sent).toEqual(['ada@example.com'])
  isRefusing = false
  await run()
  expect(sent).toHaveLength(mailsAtOnce + 1)
})
