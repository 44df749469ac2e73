import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createOpenReader, readLimitsOf } from './access/reader.ts'
import { adminQueues } from './admin/jobs.ts'
import { analyticsQueues } from './analytics/rollup/jobs.ts'
import { fileQueues } from './audiences/files/jobs.ts'
import { openFiles } from './audiences/files/open.ts'
import { audienceQueues } from './audiences/jobs.ts'
import { createBilling } from './billing/billing.ts'
import { billingQueues } from './billing/jobs.ts'
import type { Config } from './config.ts'
import { exportQueues } from './exports/jobs.ts'
import { openCursors } from './http/cursors.ts'
import { listQueues } from './lists/jobs.ts'
import type { Uploads } from './lists/upload/uploads.ts'
import { openOutbound } from './outbound/outbound.ts'
import { openSealer } from './outbound/sealer.ts'
import { mailQueues } from './outbox/mails.ts'
import { privacyQueues } from './people/privacy/jobs.ts'
import type { Queue } from './platform/jobs/queue.ts'
import type { Stores } from './platform/localStores/open.ts'
import type { Log } from './platform/log.ts'
import { openMail } from './platform/mail.ts'
import { sandboxQueues } from './sandbox/jobs.ts'
import { signalQueues } from './signals/jobs.ts'
import { summaryQueues } from './summaries/jobs.ts'
import { createDeliverer } from './webhooks/deliverer.ts'
import { webhookQueues } from './webhooks/jobs.ts'

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
  const { openStripe } = config.stripeApiKey ? await import('./billing/stripe.ts') : { openStripe: null }
  const tell = openStripe?.(config.stripeApiKey!, config.stripeApiBase) ?? null
  const { files: store, filesDirectory } = await openFiles(config, openCursors(cursorKey))
  const temporaryDirectory = join(filesDirectory, 'temporary')
  // Of a process that was killed.
  rmSync(temporaryDirectory, { recursive: true, force: true })
  const outside = {
    ...{ postgres, sealer: openSealer(config), now: Date.now, log },
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
      ...{ ...outside, ...eventStores, temporaryDirectory, billing },
      openReader,
    }),
    ...(hasSample ? sandboxQueues(test, config.sampleDays) : []),
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
