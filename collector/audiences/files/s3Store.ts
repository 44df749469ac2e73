import { createReadStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { DeleteObjectsCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import type { S3Settings } from '../../config.ts'
import type { FileStore } from './store.ts'

/** Parts as objects, each there at once and whole: S3 shows nothing of one that is not complete. */
export function openS3Store({ endpoint, bucket, region, ...credentials }: S3Settings): FileStore {
  const client = new S3Client({
    ...{ region, credentials },
    // Stores of other makers have no addresses by bucket, and do not all know newer checksums.
    ...(endpoint && { endpoint, forcePathStyle: true }),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
  const keyOf = (fileId: string, name: string) => `audiences/${fileId}/${name}`
  return {
    async save(fileId, name, path) {
      const { size } = await stat(path)
      const object = { Bucket: bucket, Key: keyOf(fileId, name) }
      await client.send(
        new PutObjectCommand({ ...object, Body: createReadStream(path), ContentLength: size }),
      )
      await rm(path)
    },
    urlOf: (fileId, name, untilMs) =>
      getSignedUrl(client, new GetObjectCommand({ Bucket: bucket, Key: keyOf(fileId, name) }), {
        expiresIn: Math.max(1, Math.ceil((untilMs - Date.now()) / 1_000)),
      }),
    async remove(fileId, names) {
      for (let from = 0; from < names.length; from += objectsMax) {
        const Objects = names.slice(from, from + objectsMax).map((name) => ({ Key: keyOf(fileId, name) }))
        await client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } }))
      }
    },
  }
}

/** So many objects S3 deletes at once. */
const objectsMax = 1_000
