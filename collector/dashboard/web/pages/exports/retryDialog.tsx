import { api, type Export } from '../../api.ts'
import { ChargeDialog } from '../../components/chargeDialog.tsx'
import { useQuery } from '../../useQuery.ts'
import { listMeter } from './exportSource.ts'

/** Asks before the failed records of a run are sent again. Says how many they are, and their price. */
export function RetryDialog({
  export: { project_id, audience_id, name },
  failed,
  start,
  close,
}: {
  export: Export
  /** The number of failed records; null if it is not known. */
  failed: number | null
  start(): Promise<void>
  close(): void
}) {
  const meter = useQuery(async () =>
    audience_id ? (await api.getAudience({ project_id, audience_id })).audience.meter : listMeter,
  )
  return (
    <ChargeDialog
      title={`Send the failed records of “${name}” again?`}
      action="Start the retry"
      meter={meter.value ?? listMeter}
      count={failed}
      confirm={async () => {
        close()
        await start()
      }}
      close={close}
    >
      <p>The retry sends only the failed records. Fix their reasons first.</p>
    </ChargeDialog>
  )
}
