import type { Queue } from '../jobs/queue.ts'
import { wakeQueue } from '../jobs/queue.ts'
import type { SendMail } from '../mail.ts'
import type { Postgres } from '../postgres/pool.ts'
import type { Queryable } from '../postgres/transaction.ts'

const mailsQueue = 'outbox.mails'
export const mailsAtOnce = 100
/** A mail that could not be sent for this time is deleted, because its content is outdated. */
const keptDays = 3

/** Mails the owners of an organization, once the transaction of `client` commits. */
export async function mailOwners(
  client: Queryable,
  organizationId: string,
  { subject, text }: { subject: string; text: string },
): Promise<void> {
  await client.query(
    `INSERT INTO outbox_mails (recipient, subject, body)
     SELECT email, $2, $3 FROM members WHERE organization_id = $1 AND role = 'owner'
       AND (user_id IS NOT NULL OR provider_subject IS NOT NULL)`,
    [organizationId, subject, text],
  )
  await wakeQueue(client, mailsQueue)
}

/** Sends a mail once the transaction of `client` commits. */
export async function mailTo(
  client: Queryable,
  recipient: string,
  { subject, text }: { subject: string; text: string },
): Promise<void> {
  await client.query('INSERT INTO outbox_mails (recipient, subject, body) VALUES ($1, $2, $3)', [
    recipient,
    subject,
    text,
  ])
  await wakeQueue(client, mailsQueue)
}

interface MailJobsDeps {
  postgres: Postgres
  /** Null: mails are deleted instead of sent. */
  sendMail: SendMail | null
}

/** The queue that sends mails, and retries a mail that its server did not accept. */
export const mailQueues = (deps: MailJobsDeps): Queue[] => [
  { name: mailsQueue, schedule: '* * * * *', run: () => sendMails(deps) },
]

async function sendMails({ postgres, sendMail }: MailJobsDeps): Promise<void> {
  await postgres.query(
    "DELETE FROM outbox_mails WHERE $1 OR created_at < now() - $2 * interval '1 day'",
    [sendMail === null, keptDays],
  )
  if (!sendMail) return
  const { rows } = await postgres.query<{
    mail_id: string
    recipient: string
    subject: string
    body: string
  }>(
    // A server refuses some mails at every try, such as those to a domain that does not exist.
    `SELECT mail_id, recipient, subject, body FROM outbox_mails
     ORDER BY tried_at NULLS FIRST, created_at LIMIT ${mailsAtOnce}`,
  )
  let failure: unknown = null
  for (const { mail_id, recipient, subject, body } of rows) {
    try {
      await sendMail({ to: recipient, subject, text: body })
      await postgres.query('DELETE FROM outbox_mails WHERE mail_id = $1', [mail_id])
    } catch (error) {
      failure = error
      await postgres.query('UPDATE outbox_mails SET tried_at = now() WHERE mail_id = $1', [mail_id])
    }
  }
  if (failure !== null) throw failure
}
