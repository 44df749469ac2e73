import { createReadStream } from 'node:fs'
import {
  HeadBucketCommand,
  HeadObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3'
import { OutboundError } from '../../../platform/outbound/outboundError.ts'
import { toDestinationError } from './call.ts'
import {
  type Chunk,
  type DestinationContext,
  DestinationError,
  type EndedRun,
  exportedAll,
  type NamedFile,
  type Outcome,
} from './destination.ts'

export interface S3Settings {
  endpoint?: string
  bucket: string
  region?: string
  prefix?: string
}
type S3Context = DestinationContext<
  S3Settings,
  { access_key_id: string; secret_access_key: string }
>

interface ManifestFile {
  name: string
  rows: number
  bytes: number
  sha256: string
}

/** Checks that the bucket exists, and that the key has access. */
export async function checkBucket(context: S3Context): Promise<void> {
  const { bucket } = context.settings
  await withClient(context, (client) => client.send(new HeadBucketCommand({ Bucket: bucket })))
}

export async function putPart(context: S3Context, chunk: Chunk): Promise<readonly Outcome[]> {
  const { runId, records, outputFormat, after } = chunk
  const { path, bytes, sha256 } = await chunk.writeFile()
  const extension = outputFormat === 'hem' ? 'csv' : outputFormat
  const name = `part-${String(after).padStart(12, '0')}.${extension}`
  const put = () =>
    new PutObjectCommand({
      Bucket: context.settings.bucket,
      Key: `${directoryOf(context.settings, runId)}${name}`,
      Body: createReadStream(path),
      ContentLength: bytes,
      Metadata: { rows: String(records.length), sha256 },
    })
  // A server that answers or disconnects may have read the data.
  await withClient(context, (client) => context.sending(() => client.send(put()), isUnsent))
  return exportedAll(records)
}

/** Uploads a file of an archive. A repeat replaces it with the same content. */
export async function putNamedFile(
  context: S3Context,
  { name, content }: NamedFile,
): Promise<void> {
  const { bucket, prefix = '' } = context.settings
  const body =
    'text' in content
      ? { Body: content.text, ContentType: 'application/json' }
      : {
          Body: createReadStream(content.path),
          ContentLength: content.bytes,
          Metadata: { sha256: content.sha256 },
        }
  const put = new PutObjectCommand({ Bucket: bucket, Key: `${prefix}${name}`, ...body })
  await withClient(context, (client) => client.send(put))
}

/** Error codes of connections that were not established. */
const unconnected = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH'])

const isUnsent = (error: unknown): boolean =>
  error instanceof OutboundError
    ? error.isUnsent
    : unconnected.has((error as NodeJS.ErrnoException).code ?? '')

/** Creates the manifest from the contents of the bucket, only if these are exactly the sent files. */
export async function writeManifest(context: S3Context, run: EndedRun): Promise<void> {
  const { bucket } = context.settings
  const directory = directoryOf(context.settings, run.runId)
  await withClient(context, async (client) => {
    const files = await readParts(client, bucket, directory)
    const rows = files.reduce((sum, file) => sum + file.rows, 0)
    if (rows !== run.recordsExported) {
      throw new DestinationError(
        'needs_action',
        `The bucket ${bucket} has ${rows} rows of ${run.recordsExported}: its files were changed.`,
      )
    }
    const manifest = {
      run_id: run.runId,
      export: run.exportName,
      format: run.outputFormat,
      rows,
      files,
    }
    await client.send(
      new PutObjectCommand({
        Bucket: bucket,
        Key: `${directory}manifest.json`,
        ContentType: 'application/json',
        Body: `${JSON.stringify(manifest, null, 2)}\n`,
      }),
    )
  })
}

async function readParts(
  client: S3Client,
  bucket: string,
  directory: string,
): Promise<ManifestFile[]> {
  const files: ManifestFile[] = []
  for await (const page of paginateListObjectsV2(
    { client },
    { Bucket: bucket, Prefix: `${directory}part-` },
  )) {
    for (const { Key } of page.Contents ?? []) {
      const { ContentLength, Metadata } = await client.send(
        new HeadObjectCommand({ Bucket: bucket, Key: Key! }),
      )
      const { rows, sha256 } = Metadata ?? {}
      files.push({
        name: Key!.slice(directory.length),
        rows: Number(rows),
        bytes: ContentLength ?? 0,
        sha256: sha256 ?? '',
      })
    }
  }
  return files
}

const directoryOf = ({ prefix = '' }: S3Settings, runId: string): string => `${prefix}${runId}/`

/** Error codes that only other settings or permissions can fix. */
const settingsCodes = new Set([
  'AccessDenied',
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'NoSuchBucket',
  'NotFound',
  'PermanentRedirect',
  'AuthorizationHeaderMalformed',
  'AllAccessDisabled',
  'Forbidden',
  '403',
])

/** Calls the store through checked connections. Errors are thrown as DestinationError. */
async function withClient<T>(
  context: S3Context,
  ask: (client: S3Client) => Promise<T>,
): Promise<T> {
  const { endpoint, region = 'us-east-1' } = context.settings
  await context.takeToken()
  const { http, https } = context.outbound.agents
  const client = new S3Client({
    region,
    credentials: {
      accessKeyId: context.secrets.access_key_id,
      secretAccessKey: context.secrets.secret_access_key,
    },
    // Stores of other vendors have no host name per bucket, and not all support newer checksums.
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Does not follow a redirect to another region, because only the given address is checked.
    followRegionRedirects: false,
    maxAttempts: 1,
    requestHandler: {
      httpAgent: http,
      httpsAgent: https,
      connectionTimeout: 10_000,
      requestTimeout: 120_000,
    },
  })
  try {
    return await ask(client)
  } catch (error) {
    throw explain(error)
  } finally {
    client.destroy()
  }
}

function explain(error: unknown): unknown {
  if (error instanceof DestinationError) return error
  if (error instanceof OutboundError) return toDestinationError(error)
  const { name, message, $metadata } = error as {
    name: string
    message: string
    $metadata?: { httpStatusCode?: number }
  }
  const status = $metadata?.httpStatusCode
  const isSettings = settingsCodes.has(name) || status === 403 || status === 404 || status === 301
  const reason =
    status === undefined ? 'The store does not answer.' : `The store answered ${status}: ${name}.`
  return isSettings
    ? new DestinationError('needs_action', `${reason} ${message}`.slice(0, 500))
    : new DestinationError('retry', reason)
}
