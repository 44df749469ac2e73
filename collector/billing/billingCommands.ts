import { isUuid } from '../../schemas/uuid.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import { StartError } from '../platform/startError.ts'
import { type Meter, meters } from './meters.ts'
import { readUnsentReports } from './reports.ts'

interface Command {
  /** The arguments, as the usage shows them. */
  takes: string
  does: string
  run(postgres: Postgres, args: readonly string[]): Promise<void>
}

/** `npx footfall-server billing …`: billing commands for operators. */
export const billingCommands: Record<string, Command> = {
  'shut-off': {
    takes: 'ORGANIZATION_ID',
    does: 'pause usage: every billed request is answered with 429 shut_off',
    run: (postgres, [id]) => setAccount(postgres, id, 'shut_off_at', new Date()),
  },
  resume: {
    takes: 'ORGANIZATION_ID',
    does: 'resume usage',
    run: (postgres, [id]) => setAccount(postgres, id, 'shut_off_at', null),
  },
  customer: {
    takes: 'ORGANIZATION_ID cus_…',
    does: 'report the usage of this organization to Stripe, as this customer',
    run: (postgres, [id, customer]) =>
      setAccount(postgres, id, 'stripe_customer_id', readCustomer(customer)),
  },
  price: {
    takes: 'ORGANIZATION_ID METER MICROS_PER_THOUSAND FREE_PER_MONTH',
    does: 'set the price of a meter',
    run: setPrice,
  },
  'free-answers': {
    takes: 'ORGANIZATION_ID PER_DAY',
    does: 'set the free answers about people of a UTC day; default: FOOTFALL_FREE_ANSWERS_PER_DAY',
    run: (postgres, [id, perDay]) =>
      setAccount(
        postgres,
        id,
        'free_answers_per_day',
        perDay === 'default' ? null : readWhole('PER_DAY', perDay),
      ),
  },
  reports: {
    takes: '',
    does: 'list the reports that Stripe has not accepted yet, with the reasons',
    run: listReports,
  },
  check: { takes: '', does: 'check that all totals are the sums of the ledger', run: checkLedger },
}

async function setAccount(
  postgres: Postgres,
  organization: string | undefined,
  column: 'shut_off_at' | 'stripe_customer_id' | 'free_answers_per_day',
  value: Date | string | number | null,
): Promise<void> {
  await postgres.query(
    `INSERT INTO billing_accounts (organization_id, ${column}) VALUES ($1, $2)
     ON CONFLICT (organization_id) DO UPDATE SET ${column} = excluded.${column}`,
    [await readOrganization(postgres, organization), value],
  )
  console.log('done')
}

async function setPrice(
  postgres: Postgres,
  [organization, meter, micros, free]: readonly string[],
): Promise<void> {
  if (!meters.includes(meter as Meter))
    throw new StartError(`METER must be one of ${meters.join(', ')}`)
  const microsPerThousand = readWhole('MICROS_PER_THOUSAND', micros)
  if (microsPerThousand % 1_000 !== 0) {
    throw new StartError(
      'MICROS_PER_THOUSAND must be a multiple of 1000, so that a record costs an integer number of micros',
    )
  }
  await postgres.query(
    `INSERT INTO meter_prices VALUES ($1, $2, $3, $4)
     ON CONFLICT (organization_id, meter) DO UPDATE SET micros_per_thousand = excluded.micros_per_thousand,
       free_records_per_month = excluded.free_records_per_month`,
    [
      await readOrganization(postgres, organization),
      meter,
      microsPerThousand,
      readWhole('FREE_PER_MONTH', free),
    ],
  )
  console.log('done')
}

async function listReports(postgres: Postgres): Promise<void> {
  const reports = await readUnsentReports(postgres, Date.now())
  for (const {
    report_id,
    organization_id,
    meter,
    records,
    used_at,
    tries,
    last_error,
    is_left,
  } of reports) {
    const state = is_left
      ? 'may have arrived and is not sent again: check it in Stripe'
      : `${tries} tries`
    console.log(
      `${used_at.toISOString()} ${organization_id} ${meter} ${records} (${report_id}): ${state}, ${last_error ?? 'not sent yet'}`,
    )
  }
  console.log(`${reports.length} reports`)
}

async function checkLedger(postgres: Postgres): Promise<void> {
  const { rows } = await postgres.query('SELECT * FROM ledger_differences')
  for (const row of rows) console.log(JSON.stringify(row))
  if (rows.length > 0)
    throw new StartError(`${rows.length} totals differ from the sum of the ledger`)
  console.log('all totals are the sums of the ledger')
}

async function readOrganization(postgres: Postgres, id: string | undefined): Promise<string> {
  if (!isUuid(id)) throw new StartError('ORGANIZATION_ID must be a UUID')
  const { rowCount } = await postgres.query(
    'SELECT 1 FROM organizations WHERE organization_id = $1',
    [id],
  )
  if (rowCount === 0)
    throw new StartError(
      `there is no organization ${id}. Check the id in the settings of the dashboard`,
    )
  return id
}

function readCustomer(text: string | undefined): string {
  if (!text || !/^cus_[A-Za-z0-9]+$/.test(text))
    throw new StartError('a customer id of Stripe must begin with cus_')
  return text
}

function readWhole(name: string, text: string | undefined): number {
  if (!text || !/^\d{1,15}$/.test(text)) throw new StartError(`${name} must be a whole number`)
  return Number(text)
}
