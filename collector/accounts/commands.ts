import { createInterface } from 'node:readline/promises'
import { Check } from 'typebox/value'
import { StartError } from '../errors.ts'
import type { Postgres } from '../postgres/pool.ts'
import { inTransaction } from '../postgres/transaction.ts'
import { Email, Name } from './declarations.ts'
import { linkMinutes, newPasswordResetLink } from './passwordReset.ts'
import { type SetupRequest, setUp } from './setup.ts'

/** `footfall reset-password EMAIL`: prints a link by which this user chooses a new password. */
export async function resetPassword(postgres: Postgres, email: string, publicUrl: string): Promise<void> {
  const link = await newPasswordResetLink(postgres, email, linkMinutes.printed, publicUrl)
  if (!link) throw new StartError(`nobody here has the e-mail address ${email}`)
  console.log(`${email} chooses a new password here, once and within 24 hours:\n  ${link}`)
}

/** `footfall setup`: makes the first organization, and says how to go on. */
export async function setup(
  postgres: Postgres,
  given: Partial<SetupRequest>,
  publicUrl: string,
): Promise<void> {
  const request = await readRequest(given)
  const lines = await inTransaction(postgres, (client) => setUp(client, request, publicUrl))
  console.log(lines.join('\n'))
}

const asked: Record<keyof SetupRequest, { question: string; schema: typeof Name; fault: string }> = {
  organization: {
    question: 'Name of the organization',
    schema: Name,
    fault: 'is a name of 1 to 200 characters',
  },
  email: { question: 'E-mail address of its owner', schema: Email, fault: 'is an e-mail address' },
  project: { question: 'Name of the first project', schema: Name, fault: 'is a name of 1 to 200 characters' },
}

/** What the flags say; what they leave out is asked for, where somebody is there to answer. */
async function readRequest(given: Partial<SetupRequest>): Promise<SetupRequest> {
  const request: Partial<SetupRequest> = {}
  const prompt = process.stdin.isTTY
    ? createInterface({ input: process.stdin, output: process.stderr })
    : null
  try {
    for (const [name, { question, schema, fault }] of Object.entries(asked) as [
      keyof SetupRequest,
      (typeof asked)[keyof SetupRequest],
    ][]) {
      const value = given[name] ?? (await prompt?.question(`${question}: `))?.trim()
      if (value === undefined) throw new StartError(`--${name} is missing`)
      if (!Check(schema, value)) throw new StartError(`--${name} ${fault}`)
      request[name] = value
    }
  } finally {
    prompt?.close()
  }
  return request as SetupRequest
}
