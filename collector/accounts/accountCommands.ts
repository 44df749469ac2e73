import { createInterface } from 'node:readline/promises'
import { Check } from 'typebox/value'
import { Name } from '../api/http/commonSchemas.ts'
import { ApiError } from '../api/http/errors.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import { inTransaction, type Queryable } from '../platform/postgres/transaction.ts'
import { StartError } from '../platform/startError.ts'
import { auditOwn } from './account/auditOwn.ts'
import { changeEmail } from './account/emailChange.ts'
import { Email } from './accountSchemas.ts'
import { removeSecondFactor } from './credentials/secondFactor.ts'
import { linkMinutes, newPasswordResetLink } from './sessions/passwordReset.ts'
import { type Addresses, type SetupRequest, setUp } from './setup.ts'

/** `footfall reset-password EMAIL`: prints a link by which this user chooses a new password. */
export async function resetPassword(
  postgres: Postgres,
  email: string,
  publicUrl: string,
): Promise<void> {
  const link = await newPasswordResetLink(postgres, email, linkMinutes.printed, publicUrl)
  if (!link) throw new StartError(`no user has the e-mail address ${email}`)
  console.log(`${email} can choose a new password here, once and within 24 hours:
  ${link}`)
}

/** `footfall change-email EMAIL NEW_EMAIL`: for a service that sends no mail to show whose an address is. */
export async function changeEmailOf(
  postgres: Postgres,
  email: string,
  newEmail: string,
): Promise<void> {
  if (!Check(Email, newEmail)) throw new StartError(`${newEmail} is not an e-mail address`)
  await inTransaction(postgres, async (client) => {
    const userId = await userOf(client, email)
    const after = newEmail.toLowerCase()
    await changeEmail(client, userId, after).catch((error: Error) => {
      throw error instanceof ApiError
        ? new StartError(
            error.status === 404 ? `another user already signs in as ${after}` : error.message,
          )
        : error
    })
  })
  console.log(`${email} signs in as ${newEmail.toLowerCase()} from now on.`)
}

/** `footfall disable-two-factor EMAIL`: for users without their app and their recovery codes. */
export async function disableTwoFactor(postgres: Postgres, email: string): Promise<void> {
  await inTransaction(postgres, async (client) => {
    const userId = await userOf(client, email)
    if (!(await removeSecondFactor(client, userId)))
      throw new StartError(`${email} does not use two-factor authentication`)
    await auditOwn(client, userId, 'member.two_factor', { on: false, by: 'operator' })
  })
  console.log(
    `${email} now signs in with the password only. Make sure that the request came from this user.`,
  )
}

async function userOf(client: Queryable, email: string): Promise<string> {
  const { rows } = await client.query<{ user_id: string }>(
    'SELECT user_id FROM users WHERE email = $1',
    [email.toLowerCase()],
  )
  if (!rows[0]) throw new StartError(`no user has the e-mail address ${email}`)
  return rows[0].user_id
}

/** `footfall setup`: creates the first organization, and prints the next steps. */
export async function setup(
  postgres: Postgres,
  given: Partial<SetupRequest>,
  addresses: Addresses,
): Promise<void> {
  const request = await readRequest(given)
  const lines = await inTransaction(postgres, (client) => setUp(client, request, addresses))
  console.log(lines.join('\n'))
}

const questions: Record<
  keyof SetupRequest,
  { question: string; schema: typeof Name; rule: string }
> = {
  organization: {
    question: 'Name of the organization',
    schema: Name,
    rule: 'a name of 1 to 200 characters',
  },
  email: { question: 'E-mail address of its owner', schema: Email, rule: 'an e-mail address' },
  project: {
    question: 'Name of the first project',
    schema: Name,
    rule: 'a name of 1 to 200 characters',
  },
}

/** Reads the flags, and asks for missing values if a person is at the terminal. */
async function readRequest(given: Partial<SetupRequest>): Promise<SetupRequest> {
  const names = Object.keys(questions) as (keyof SetupRequest)[]
  for (const name of names) {
    const value = given[name]
    const { schema, rule } = questions[name]
    if (value !== undefined && !Check(schema, value))
      throw new StartError(`--${name} must be ${rule}`)
  }
  const missing = names.filter((name) => given[name] === undefined)
  if (missing.length > 0 && !process.stdin.isTTY) {
    const named = missing.map((name) => `--${name}`).join(', ')
    throw new StartError(`${named} ${missing.length > 1 ? 'are' : 'is'} missing`)
  }
  return { ...given, ...(missing.length > 0 && (await ask(missing))) } as SetupRequest
}

/** Repeats each question on the terminal until the answer is valid. Throws if the user cancels. */
async function ask(names: (keyof SetupRequest)[]): Promise<Partial<SetupRequest>> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answers: Partial<SetupRequest> = {}
  try {
    for (const name of names) {
      const { question, schema, rule } = questions[name]
      let answer = (await terminal.question(`${question}: `)).trim()
      while (!Check(schema, answer))
        answer = (await terminal.question(`It must be ${rule}: `)).trim()
      answers[name] = answer
    }
    return answers
  } catch (error) {
    // Ctrl-C or Ctrl-D.
    if ((error as NodeJS.ErrnoException).code !== 'ABORT_ERR') throw error
    throw new StartError('canceled; nothing was created')
  } finally {
    terminal.close()
  }
}
