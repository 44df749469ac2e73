import { setTimeout as delay } from 'node:timers/promises'
import { cancelRun } from '../../collector/activation/exports/exportRuns.ts'
import { windowMessages } from '../../collector/activation/integrations/destinations/webhook.ts'
import { type Random, seededRandom } from '../../collector/platform/seededRandom.ts'
import type { Exports } from '../harness/exports.ts'
import { waitFor } from '../harness/service.ts'
import { type Receiver, receiverSecret, startReceiver } from '../harness/standIns/receiver.ts'
import type { Mishap } from '../harness/standIns/standIn.ts'
import { type Mortal, withMortal } from './mortal.ts'
import type { ScenarioOptions } from './scenario.ts'

export interface ExportsOptions extends ScenarioOptions {
  kills: number
  /** People of the audience that is sent again and again. */
  people: number
}

export interface ExportsResult {
  seed: number
  kills: number
  runs: number
  records: number
  /** Records that count as exported, and that the destination never got. */
  lost: number
  /** Records of runs without any outcome. */
  uncounted: number
  /** Charged for records of the build on the day, beyond what it has. */
  overcharged: number
  /** Records that arrived and were not charged, of a run that was cancelled while its service was killed. */
  unpaid: number
  /** How often the destination took a message again. */
  sentAgain: number
  /** How often it may: once for each lost answer, and for each kill the messages of one chunk, which are posted together. */
  sentAgainMax: number
  lostAnswers: number
  /** Answers that were no success, by their kind. */
  mishaps: number
}

/** After how much more of a run the service is killed. */
const betweenKillsMs = { least: 0, most: 1_000 }
const mishapChance = 0.15

/**
 * Repeatedly sends an audience to a destination that fails at random, while the service is killed at random
 * moments and restarted. Then compares the outcomes of runs with the records at the destination.
 */
export async function runExports(options: ExportsOptions): Promise<ExportsResult> {
  const { seed, log, stores, kills, people } = options
  const random = seededRandom(seed)
  const receiver = await startReceiver()
  const env = {
    FOOTFALL_OUTBOUND_ALLOW: '127.0.0.1',
    FOOTFALL_WORKERS: '1',
    FOOTFALL_SECRET_KEY: Buffer.alloc(32, 5).toString('base64'),
  }
  const sending = withMortal(stores, env, async (mortal) => {
    const { api, kill } = mortal
    const exportId = await prepare(api(), receiver, people)
    const unpaid = await cancelAfterKill(mortal, receiver, exportId)
    let lostAnswers = 0
    let mishaps = 0
    let requests = 0
    receiver.misbehave = () => {
      requests++
      const mishap = drawMishap(random)
      if (mishap) mishaps++
      if (mishap && ('truncates' in mishap || ('dies' in mishap && mishap.dies === 'after')))
        lostAnswers++
      return mishap
    }
    const runs = [await startRun(api(), exportId)]
    for (let killed = 1; killed <= kills; killed++) {
      const before = requests
      const isSending = async () =>
        requests > before || (await readRun(api(), exportId, runs.at(-1)!)).ended_at !== null
      await waitFor('the run to go on', isSending, 120_000)
      await delay(random.integer(betweenKillsMs.least, betweenKillsMs.most))
      await kill()
      const run = await readRun(api(), exportId, runs.at(-1)!)
      log(
        `${killed}/${kills}: run ${runs.length} is ${run.status}, ${run.records_total} of ${people} counted`,
      )
      if (run.ended_at !== null && killed < kills) runs.push(await startRun(api(), exportId))
    }
    log('waiting for the last run')
    await endOf(api(), exportId, runs.at(-1)!)
    return {
      seed,
      kills,
      runs: runs.length,
      lostAnswers,
      sentAgainMax: kills * windowMessages + lostAnswers,
      mishaps,
      unpaid,
      ...(await compare(api(), receiver, { exportId, runs, people })),
    }
  })
  return sending.finally(() => receiver.close())
}

/**
 * A run whose first message has arrived without an answer when the service is killed, and is cancelled before
 * the restart. The charge stays. Returns how many records arrived without a charge.
 */
async function cancelAfterKill(
  { api, kill }: Mortal,
  receiver: Receiver,
  exportId: string,
): Promise<number> {
  receiver.misbehave = () => ({ hangs: true })
  const runId = await startRun(api(), exportId)
  await waitFor('the first chunk', () => arrivedAt(receiver) > 0, 120_000)
  await kill(() => cancelRun(api().postgres, runId))
  await endOf(api(), exportId, runId)
  const { records_exported, records_charged } = await readRun(api(), exportId, runId)
  if (records_exported > 0) throw new Error('what was not answered counts as exported')
  return Math.max(0, arrivedAt(receiver) - records_charged)
}

const arrivedAt = ({ messages }: Receiver): number =>
  [...messages.values()].flatMap(({ data }) => data.records ?? []).length

function drawMishap(random: Random): Mishap | null {
  if (random.next() >= mishapChance) return null
  const mishaps: Mishap[] = [
    { answer: { status: 503 } },
    { answer: { status: 422 } },
    { answer: { status: 429, headers: { 'retry-after': '1' } } },
    { dies: 'before' },
    { dies: 'after' },
    { truncates: true },
  ]
  return mishaps[random.integer(0, mishaps.length - 1)]!
}

async function prepare(api: Exports, receiver: Receiver, people: number): Promise<string> {
  const audience_id = await api.audienceOf(
    Array.from({ length: people }, (_, n) => ({
      address: `chaos${n}@known.example`,
      first_name: `N${n}`,
    })),
  )
  const integration_id = await api.newIntegration(
    'webhook',
    { url: receiver.url },
    { signing_secret: receiverSecret },
  )
  const body = { name: 'Chaos', audience_id, integration_id, output_format: 'hem' }
  const made = await api.get('POST', 'exports', {
    project_id: api.service.demo.project_id,
    ...body,
  })
  return made.export.id
}

const startRun = async (api: Exports, exportId: string): Promise<string> =>
  (await api.get('POST', `exports/${exportId}/runs`)).run.run_id

const readRun = async (api: Exports, exportId: string, runId: string) =>
  (await api.get('GET', `exports/${exportId}/runs/${runId}`)).run

async function endOf(api: Exports, exportId: string, runId: string): Promise<void> {
  for (
    const until = Date.now() + 300_000;
    (await readRun(api, exportId, runId)).ended_at === null;
  ) {
    if (Date.now() > until) throw new Error(`run ${runId} does not end`)
    await delay(200)
  }
}

async function compare(
  { postgres }: Exports,
  receiver: Receiver,
  { exportId, runs, people }: { exportId: string; runs: readonly string[]; people: number },
) {
  let lost = 0
  let uncounted = 0
  let records = 0
  for (const runId of runs) {
    const { rows } = await postgres.query<{ total: number; exported: number; failed: number }>(
      `SELECT records_total::float8 AS total, records_exported::float8 AS exported,
         (SELECT count(*) FROM export_outcomes WHERE export_outcomes.run_id = export_runs.run_id)::float8 AS failed
       FROM export_runs WHERE run_id = $1 AND export_id = $2`,
      [runId, exportId],
    )
    const { total, exported, failed } = rows[0]!
    const got = new Set(
      [...receiver.messages.values()]
        .filter(({ data }) => data.run_id === runId)
        .flatMap(({ data }) => (data.records ?? []).map(({ hem }) => hem)),
    )
    records += total
    uncounted += Math.abs(people - exported - failed) + Math.abs(people - total)
    lost += Math.max(0, exported - got.size)
  }
  const { rows } = await postgres.query<{ most: number }>(
    `SELECT coalesce(max(charged), 0)::float8 AS most
     FROM (SELECT sum(records) AS charged FROM ledger WHERE meter = 'audience' GROUP BY day) AS days`,
  )
  const sentAgain = [...receiver.times.entries()]
    .filter(([id]) => runs.some((runId) => id.startsWith(runId)))
    .reduce((sum, [, times]) => sum + times - 1, 0)
  return { records, lost, uncounted, overcharged: Math.max(0, rows[0]!.most - people), sentAgain }
}
