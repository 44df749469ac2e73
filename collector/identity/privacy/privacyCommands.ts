import { isUuid } from '../../../schemas/uuid.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { StartError } from '../../platform/startError.ts'
import { readErasure, requestErasure } from './erasures.ts'
import { addOptOut, removeOptOut } from './optOuts.ts'
import { readSubjectText, type Subject } from './subject.ts'

interface Command {
  does: string
  run(postgres: Postgres, organizationId: string | null, subject: Subject): Promise<void>
}

/** `npx footfall-server privacy …`: for one organization, or for all and the operator's graph. */
const commands: Record<string, Command> = {
  erase: {
    does: 'erase a person or a browser and opt them out; the service runs the erasure',
    async run(postgres, organizationId, subject) {
      const { erasure_id } = await inTransaction(postgres, async (client) => {
        await addOptOut(client, organizationId, subject)
        return requestErasure(client, organizationId, subject)
      })
      console.log(
        `erasure ${erasure_id} is in progress: footfall-server privacy status ${erasure_id}`,
      )
    },
  },
  'opt-out': {
    does: 'discard new events of a person or a browser, and hide their identity',
    async run(postgres, organizationId, subject) {
      await addOptOut(postgres, organizationId, subject)
      console.log('done')
    },
  },
  'opt-in': {
    does: 'delete the opt-out of a person or a browser',
    async run(postgres, organizationId, subject) {
      if (!(await removeOptOut(postgres, organizationId, subject))) {
        throw new StartError('they have no opt-out')
      }
      console.log('done')
    },
  },
}

/** Arguments and actions of the commands, by their subject. */
export const privacyCommands: Record<
  string,
  { takes: string; does: string; run(postgres: Postgres, args: readonly string[]): Promise<void> }
> = {
  ...Object.fromEntries(
    Object.entries(commands).map(([name, { does, run }]) => [
      name,
      {
        takes: 'EMAIL|HEM|COOKIE_ID ORGANIZATION_ID|everywhere',
        does,
        async run(postgres: Postgres, [whom, where]: readonly string[]) {
          const subject = readSubjectText(whom!)
          if (!subject)
            throw new StartError(`"${whom}" must be an e-mail address, a hem or a cookie id`)
          await run(postgres, await readOrganization(postgres, where!), subject)
        },
      },
    ]),
  ),
  status: {
    takes: 'ERASURE_ID',
    does: 'show the status of an erasure',
    run: (postgres, [erasureId]) => showStatus(postgres, erasureId!),
  },
}

async function showStatus(postgres: Postgres, erasureId: string): Promise<void> {
  const erasure = isUuid(erasureId) ? await readErasure(postgres, erasureId) : undefined
  if (!erasure) throw new StartError(`there is no erasure ${erasureId}`)
  const { completed_at } = erasure
  console.log(completed_at ? `complete since ${completed_at}` : 'not complete yet')
}

async function readOrganization(postgres: Postgres, where: string): Promise<string | null> {
  if (where === 'everywhere') return null
  const { rowCount } = isUuid(where)
    ? await postgres.query('SELECT 1 FROM organizations WHERE organization_id = $1', [where])
    : { rowCount: 0 }
  if (rowCount === 0) throw new StartError(`there is no organization ${where}`)
  return where
}
