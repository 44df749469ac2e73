import { useState } from 'preact/hooks'
import { ApiError, api, messageOf } from '../../api.ts'
import { nameOfMeter, records } from '../../components/amounts.ts'
import { ChargeDialog } from '../../components/chargeDialog.tsx'
import { Section } from '../../components/page.tsx'
import { loadPrices } from '../../components/prices.ts'
import { counted } from '../../format.ts'
import { formatNames } from '../integrations/destinationFields.ts'
import type { Audience } from './audiences.tsx'

const pollMs = 1_000
const formats = ['csv', 'ndjson', 'parquet'] as const
type Download = Awaited<ReturnType<typeof api.downloadAudience>>

/** The build as files. It asks before it creates them, because the first file is charged. */
export function Files({ audience }: { audience: Audience }) {
  const [format, setFormat] = useState<(typeof formats)[number]>('csv')
  const [download, setDownload] = useState<Download | null>(null)
  const [fault, setFault] = useState('')
  const [isConfirming, setConfirming] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const isBuilt = audience.build_id !== null
  const create = async () => {
    setAsking(true)
    setFault('')
    try {
      for (;;) {
        const found = await api.downloadAudience({
          project_id: audience.project_id,
          audience_id: audience.id,
          format,
        })
        setDownload(found)
        if (found.status !== 'pending' && found.status !== 'unloading') break
        await new Promise((resolve) => setTimeout(resolve, pollMs))
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setFault(messageOf(error))
    } finally {
      setAsking(false)
      void loadPrices().catch(() => {})
    }
  }
  return (
    <Section
      title="Files"
      lead="The complete build, charged once. The URLs of the files expire after 15 minutes."
    >
      <div class="toolbar">
        <label>
          Format{' '}
          <select
            value={format}
            onChange={({ currentTarget: { value } }) => setFormat(value as typeof format)}
          >
            {formats.map((name) => (
              <option key={name} value={name}>
                {formatNames[name]}
              </option>
            ))}
          </select>
        </label>
        <button
          type="button"
          aria-disabled={isAsking || !isBuilt}
          onClick={() => isBuilt && !isAsking && setConfirming(true)}
        >
          {isAsking ? 'Please wait…' : 'Create files…'}
        </button>
        {!isBuilt && <p class="hint">The audience is not built yet.</p>}
      </div>
      {fault && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      {download?.status === 'ready' && <Ready download={download} />}
      {isConfirming && (
        <ChargeDialog
          title={`Create files of “${audience.name}”?`}
          action="Create files"
          meter={audience.meter}
          count={audience.count}
          confirm={async () => {
            setConfirming(false)
            void create()
          }}
          close={() => setConfirming(false)}
        >
          <p>
            {audience.count === null
              ? 'The number of rows appears in the files.'
              : `The ${formatNames[format]} files have ${counted(audience.count, 'row')}.`}
          </p>
        </ChargeDialog>
      )}
    </Section>
  )
}

/** The links to the files, and their charge. */
function Ready({ download: { files, meta } }: { download: Download }) {
  return (
    <>
      <p role="status">
        {counted(meta.records, 'row')}.{' '}
        {meta.charged === 0
          ? 'Nothing was charged: these records were charged before.'
          : `${counted(meta.charged, 'record')} charged on the meter ${nameOfMeter(meta.meter)}.`}
      </p>
      <ul class="rows">
        {files.map(({ name, url, rows, bytes }) => (
          <li key={name}>
            <a href={url} download={name}>
              {name}
            </a>
            <span class="meta">
              {counted(rows, 'row')}, {records(Math.ceil(bytes / 1000))} KB
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}
