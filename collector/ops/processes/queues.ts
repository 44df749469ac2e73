import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { adminQueues } from '../../accounts/accountJobs.ts'
import { archiveQueues } from '../../activation/archives/archiveJobs.ts'
import { exportQueues } from '../../activation/exports/exportJobs.ts'
import type { SendDeps } from '../../activation/exports/exportsDeps.ts'
import { visitAlertQueues } from '../../activation/visitAlerts/visitAlertJobs.ts'
import { createDeliverer } from '../../activation/webhooks/deliverer.ts'
import { webhookQueues } from '../../activation/webhooks/webhookJobs.ts'
import { alertQueues } from '../../analytics/alerts/alertJobs.ts'
import { hitsQueues } from '../../analytics/hits/keepHits.ts'
import { summaryQueues } from '../../analytics/summaries/summaryJobs.ts'
import { audienceQueues } from '../../audiences/audienceJobs.ts'
import { fileQueues } from '../../audiences/files/audienceFiles.ts'
import type { Files } from '../../audiences/files/open.ts'
import { listQueues } from '../../audiences/lists/listJobs.ts'
import type { ListJobsDeps } from '../../audiences/lists/listsDeps.ts'
import { signalQueues } from '../../audiences/signals/signalJobs.ts'
import type { Allowance } from '../../billing/allowance.ts'
import { billingQueues } from '../../billing/billingJobs.ts'
import type { Config } from '../../config.ts'
import { windowDeletionQueues } from '../../events/repair/windowDeletions.ts'
import { privacyQueues } from '../../identity/privacy/privacyJobs.ts'
import type { Queue } from '../../platform/jobs/queue.ts'
import { type Jobs, startJobs } from '../../platform/jobs/startJobs.ts'
import type { SendMail } from '../../platform/mail.ts'
import { mailQueues } from '../../platform/outbox/mails.ts'
import { sandboxQueues } from '../sandbox/sandboxJobs.ts'

interface QueueDeps extends Omit<SendDeps, 'temporaryDirectory'>, ListJobsDeps, Files {
  readonly config: Pick<Config, 'sampleDays' | 'stripeApiKey' | 'stripeApiBase'>
  /** The address of this service for browsers, without a slash at the end. */
  readonly publicUrl: string
  /** Null: no mail is sent. */
  readonly sendMail: SendMail | null
  readonly allowance: Allowance
  readonly webhookTimeoutMs: number
}

export interface Queues {
  readonly queues: Queue[]
  /** Whether the service reports usage to a payment provider. */
  readonly reportsUsage: boolean
  /** Closes the resources of jobs. Call it when no job runs. */
  close(): Promise<void>
}

export interface Background {
  readonly jobs: Promise<Jobs>
  readonly reportsUsage: boolean
  stop(): Promise<void>
}

/** Starts the jobs without delaying workers: the first start creates the jobs' tables. */
export async function startBackground(
  services: QueueDeps,
  postgresUrl: string,
): Promise<Background> {
  const { postgres, log } = services
  const { queues, reportsUsage, close } = await openQueues(services)
  const jobs = startJobs({ postgres, postgresUrl, queues, log })
  // The caller awaits `jobs` later.
  jobs.catch(() => {})
  return {
    jobs,
    reportsUsage,
    async stop() {
      await (await jobs).stop()
      await close()
    },
  }
}

/** Opens all queues of background jobs of the primary process. */
export async function openQueues(services: QueueDeps): Promise<Queues> {
  const { config, postgres, clickhouse, now, log, files, filesDirectory } = services
  const { live, test } = clickhouse
  const deletionDeps = { postgres, clickhouse: live }
  // The Stripe library has two hundred modules, so it is loaded only if needed.
  const { openStripe } = config.stripeApiKey
    ? await import('../../billing/stripe.ts')
    : { openStripe: null }
  const tell = openStripe?.(config.stripeApiKey!, config.stripeApiBase) ?? null
  const temporaryDirectory = join(filesDirectory, 'temporary')
  // Files of a killed process.
  rmSync(temporaryDirectory, { recursive: true, force: true })
  const deliverer = createDeliverer(services)
  const queues = [
    ...adminQueues(deletionDeps),
    ...privacyQueues(deletionDeps),
    ...windowDeletionQueues(deletionDeps),
    ...billingQueues({ postgres, tell, now, log }),
    ...audienceQueues(services),
    ...fileQueues({ postgres, clickhouse, store: files, temporaryDirectory }),
    ...signalQueues(services),
    ...hitsQueues({ clickhouse: live, postgres }),
    ...alertQueues(services),
    ...visitAlertQueues(services),
    ...webhookQueues(postgres, deliverer),
    ...mailQueues(services),
    ...summaryQueues(services),
    ...listQueues(services),
    ...archiveQueues({ ...services, temporaryDirectory }),
    ...exportQueues({ ...services, temporaryDirectory }),
    ...(config.sampleDays > 0
      ? sandboxQueues({ clickhouse: test, postgres }, config.sampleDays)
      : []),
  ]
  return { queues, reportsUsage: tell !== null, close: () => deliverer.stop() }
}
