import type { Uploads } from '../../audiences/lists/upload/uploads.ts'
import type { Config } from '../../config.ts'
import type { Log } from '../../platform/log.ts'
import type { SecretBox } from '../../platform/outbound/secretBox.ts'
import type { Stores } from '../../platform/stores/openStores.ts'
import { type Demo, ensureDemo } from '../demo/demo.ts'
import { useSample } from '../demo/sampleUse.ts'
import { demoAudienceId, ensureSampleVisitors } from '../demo/sampleVisitors.ts'
import { keepSampleVisitsComing } from '../demo/sampleVisits.ts'
import { ensureSandbox } from '../sandbox/sandbox.ts'

/** Dependencies of the sample data; only a service that answers reads has it. */
interface SampleDeps {
  readonly uploads: Uploads
  readonly secretBox: SecretBox
}

export interface Samples {
  readonly demo: Demo | null
  /** An audience of the demo's visitors; null if the demo has no visitors. */
  readonly audienceId: string | null
  /**
   * Completes the demo through the running service: waits for the sample visitors, and sends sample requests
   * once.
   */
  complete(): Promise<void>
  stop(): Promise<void>
}

/**
 * Ensures that the data of test keys and of the demo exists. The demo's visitors are stored while workers
 * start.
 */
export async function prepareSamples(
  config: Config,
  stores: Stores,
  services: SampleDeps | null,
  log: Log,
): Promise<Samples> {
  const { demoVisits, sampleDays, localUrl } = config
  const { live, test } = stores.clickhouse
  const postgres = stores.postgres.pool
  if (services) await ensureSandbox({ postgres, test, uploads: services.uploads, log }, sampleDays)
  const demo = config.demo ? await ensureDemo(postgres, config) : null
  if (!demo || !services || sampleDays === 0)
    return { demo, audienceId: null, complete: async () => {}, stop: async () => {} }

  const { uploads, secretBox } = services
  const warn = (message: string) => (error: Error) => log.warn({ error: error.message }, message)
  const seeding = ensureSampleVisitors(
    { postgres, clickhouse: live, uploads, secretBox, demoVisits },
    demo,
  ).catch(warn('could not create visitors of the demo'))
  let stopVisits = async () => {}
  return {
    demo,
    audienceId: demoAudienceId(demo),
    async complete() {
      await seeding
      await useSample(live, demo, localUrl).catch(warn('could not open the demo'))
      if (demoVisits) stopVisits = keepSampleVisitsComing(live, demo, log)
    },
    stop: () => stopVisits(),
  }
}
