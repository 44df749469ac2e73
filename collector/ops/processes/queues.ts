import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { adminQueues } from '../../accounts/jobs.ts'
import { exportQueues } from '../../activation/exports/jobs.ts'
import { createDeliverer } from '../../activation/webhooks/deliverer.ts'
import { webhookQueues } from '../../activation/webhooks/jobs.ts'
import { analyticsQueues } from '../../analytics/counting/countingJobs.ts'
import { summaryQueues } from '../../analytics/summaries/jobs.ts'
import { createOpenReader, readLimitsOf } from '../../api/access/reader.ts'
import { openCursors } from '../../api/http/cursors.ts'
import { fileQueues } from '../../audiences/files/jobs.ts'
import { openFiles } from '../../audiences/files/open.ts'
import { audienceQueues } from '../../audiences/jobs.ts'
import { listQueues } from '../../audiences/lists/jobs.ts'
import type { Uploads } from '../../audiences/lists/upload/uploads.ts'
import { signalQueues } from '../../audiences/signals/jobs.ts'
import { createBilling } from '../../billing/billing.ts'
import { billingQueues } from '../../billing/jobs.ts'
import type { Config } from '../../config.ts'
import { privacyQueues } from '../../identity/privacy/jobs.ts'
import type { Queue } from '../../platform/jobs/queue.ts'
import type { Log } from '../../platform/log.ts'
import { openMail } from '../../platform/mail.ts'
import { openOutbound } from '../../platform/outbound/outbound.ts'
import { openSealer } from '../../platform/outbound/sealer.ts'
import { mailQueues } from '../../platform/outbox/mails.ts'
import type { Stores } from '../../platform/stores/openStores.ts'
import { sandboxQueues } from '../sandbox/jobs.ts'

export interface Queues {
  readonly queues: Queue[]
  /** Whether what is used is reported to a payment provider. */
  readonly reportsUsage: boolean
  /** To be called when no job runs any more: what they hold open. */
  close(): Promise<void>
}

/** Everything that runs in the background, in the primary process, with what the jobs need. */
export async function openQueues(
  config: Config,
  { postgres: { pool: postgres }, clickhouse: { live, test } }: Stores,
  {
    uploads,
    hasSample,
    cursorKey,
    log,
  }: { uploads: Uploads; hasSample: boolean; cursorKey: Buffer; log: Log },
): Promise<Queues> {
  const eventStores = { postgres, clickhouse: { live, test } }
  const deletionDeps = { postgres, clickhouse: live }
  // Two hundred modules, where they are needed.
  const { openStripe } = config.stripeApiKey
    ? await import('../../billing/stripe.ts')
    : { openStripe: null }
  const tell = openStripe?.(config.stripeApiKey!, config.stripeApiBase) ?? null
  const { files: store, filesDirectory } = await openFiles(config, openCursors(cursorKey))
  const temporaryDirectory = join(filesDirectory, 'temporary')
  // Of a process that was killed.
  rmSync(temporaryDirectory, { recursive: true, force: true })
  const outside = {
    postgres,
    sealer: openSealer(config),
    now: Date.now,
    log,
    outbound: openOutbound({ allow: config.outboundAllow }),
  }
  const deliverer = createDeliverer(outside)
  const billing = createBilling(outside)
  const sendMail = config.smtpUrl ? openMail(config.smtpUrl, config.smtpFrom) : null
  const openReader = createOpenReader({ live, test }, readLimitsOf(config))
  const queues = [
    ...adminQueues(deletionDeps),
    ...privacyQueues(deletionDeps),
    ...billingQueues({ postgres, tell, now: Date.now, log }),
    ...audienceQueues({ ...eventStores, log }),
    ...fileQueues({ ...eventStores, store, temporaryDirectory }),
    ...signalQueues(eventStores),
    ...analyticsQueues(live),
    ...webhookQueues(postgres, deliverer),
    ...mailQueues({ postgres, sendMail }),
    ...summaryQueues({ postgres, openReader, sendMail, publicUrl: config.publicUrl, log }),
    ...listQueues({ ...eventStores, uploads, log }),
    ...exportQueues({
      ...outside,
      ...eventStores,
      temporaryDirectory,
      billing,
      openReader,
    }),
    ...(hasSample ? sandboxQueues({ clickhouse: test, postgres }, config.sampleDays) : []),
  ]
  return {
    queues,
    reportsUsage: tell !== null,
    async close() {
      await deliverer.stop()
      await billing.close()
    },
  }
}
