import { Type } from 'typebox'
import { strictObject } from '../../../api/http/commonSchemas.ts'
import type { DestinationType } from './destination.ts'

const settings = strictObject({
  endpoint: Type.Optional(
    Type.String({
      maxLength: 500,
      pattern: '^https?://[^?#]+$',
      description: 'An S3-compatible store. Default: Amazon S3 of the region.',
    }),
  ),
  bucket: Type.String({ pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$' }),
  region: Type.Optional(Type.String({ pattern: '^[a-z0-9-]{2,40}$', default: 'us-east-1' })),
  prefix: Type.Optional(
    Type.String({
      maxLength: 200,
      pattern: '^([A-Za-z0-9!_.*()=-]+/)*$',
      default: '',
      description: 'Prefix of object names, with a trailing slash.',
    }),
  ),
})
const secrets = strictObject({
  access_key_id: Type.String({ minLength: 1, maxLength: 200 }),
  secret_access_key: Type.String({ minLength: 1, maxLength: 200 }),
})

// Loaded on demand, because the SDK takes a tenth of a second to load.
const files = () => import('./s3Files.ts')

/**
 * Files in a bucket: `PREFIX RUN_ID/part-KEY.FORMAT`, each created atomically. After the last one,
 * `manifest.json` lists their rows, bytes and sha256. Files without a manifest are not complete. A chunk that
 * is sent again replaces its file.
 */
export const s3: DestinationType<typeof settings, typeof secrets> = {
  settings,
  secrets,
  formats: ['csv', 'ndjson', 'parquet', 'hem'],
  chunkRecords: () => 50_000,
  rate: { perSecond: 20, burst: 20 },
  takesFiles: true,
  removes: false,
  open: (context) => ({
    async check() {
      await (await files()).checkBucket(context)
      return `The bucket ${context.settings.bucket} exists, and the key can read it.`
    },
    fields: async () => null,
    send: async (chunk) => (await files()).putPart(context, chunk),
    putFile: async (file) => (await files()).putNamedFile(context, file),
    finish: async (run) => (await files()).writeManifest(context, run),
  }),
}
