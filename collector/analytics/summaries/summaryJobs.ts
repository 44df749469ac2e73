import type { OpenQueryExecutor } from '../../api/access/queryExecutor.ts'
import type { Queue } from '../../platform/jobs/queue.ts'
import type { WarnLog } from '../../platform/log.ts'
import { type SendMail, wasNotSent } from '../../platform/mail.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { readSummary, type SummaryFigures } from './figures.ts'
import { type Frequency, frequencies, type Period, periodToTell } from './periods.ts'
import { claim, type DueSummary, listDue, listZones, release } from './subscriptions.ts'
import { summaryMail } from './summaryMail.ts'
import { openUnsubscribeTokens, type UnsubscribeTokens } from './unsubscribeTokens.ts'

interface SummaryJobsDeps {
  postgres: Postgres
  openQueryExecutor: OpenQueryExecutor
  /** Null: no summary is sent. */
  sendMail: SendMail | null
  /** The address of this service for browsers, without a slash at the end. */
  publicUrl: string
  log: WarnLog
}

/** The background job of summaries: sends due ones each hour. */
export const summaryQueues = (deps: SummaryJobsDeps): Queue[] => [
  {
    name: 'summaries.send',
    schedule: '7 * * * *',
    timeoutSeconds: 3_000,
    run: ({ signal }) => sendDueSummaries(deps, Date.now(), signal),
  },
]

/**
 * Sends every due summary at most once: it counts as sent before its mail is sent. A mail that the server
 * certainly did not accept becomes due again, and this rejects at the end, so that the job is retried.
 */
export async function sendDueSummaries(
  deps: SummaryJobsDeps,
  nowMs: number,
  signal: AbortSignal,
): Promise<void> {
  const { postgres, openQueryExecutor, sendMail } = deps
  if (!sendMail) return
  const tokens = await openUnsubscribeTokens(postgres)
  let failure: unknown = null
  const periods: [Frequency, Period][] = []
  for (const frequency of frequencies)
    for (const zone of await listZones(postgres, frequency))
      periods.push([frequency, periodToTell(frequency, nowMs, zone)])
  for (const [frequency, period] of periods) {
    const figuresOf = new Map<string, Promise<SummaryFigures>>()
    for (const due of await listDue(postgres, frequency, period)) {
      signal.throwIfAborted()
      const { project_id: projectId, organization_id: organizationId } = due
      try {
        const queryExecutor = openQueryExecutor(
          { organizationId, mode: 'live' },
          { effort: 'scan', signal },
        )
        const known = figuresOf.get(projectId)
        const reading = known ?? readSummary(queryExecutor, { organizationId, projectId }, period)
        figuresOf.set(projectId, reading)
        await sendSummary(deps, sendMail, tokens, {
          frequency,
          period,
          due,
          figures: await reading,
        })
      } catch (error) {
        failure = error
      }
    }
  }
  if (failure !== null) throw failure
}

async function sendSummary(
  { postgres, publicUrl, log }: SummaryJobsDeps,
  sendMail: SendMail,
  tokens: UnsubscribeTokens,
  {
    frequency,
    period,
    due,
    figures,
  }: { frequency: Frequency; period: Period; due: DueSummary; figures: SummaryFigures },
): Promise<void> {
  const { subscription_id, project_id, organization_id, project_name: projectName } = due
  const to = await claim(postgres, frequency, period, subscription_id)
  // A site without events gets no summary.
  if (to === null || figures.now.events + figures.before.events === 0) return
  const days = `period=custom&from=${period.firstDay}&to=${period.lastDay}`
  const mail = summaryMail({
    projectName,
    frequency,
    period,
    figures,
    overviewUrl: `${publicUrl}/${organization_id}/projects/${project_id}/overview?${days}`,
    unsubscribeUrl: `${publicUrl}/unsubscribe/${tokens.of(subscription_id)}`,
  })
  try {
    await sendMail({ to, ...mail })
  } catch (error) {
    if (wasNotSent(error)) {
      await release(postgres, due, period)
      throw error
    }
    log.warn(
      { subscription_id, error: (error as Error).message },
      'a summary may not have arrived, and is not sent again',
    )
  }
}
