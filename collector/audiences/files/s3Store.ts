import { createReadStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import type { S3Settings } from '../../config.ts'
import type { FileStore } from './fileStore.ts'

/** Stores parts as objects, each atomically: S3 does not show incomplete ones. */
export function openS3Store({ endpoint, bucket, region, ...credentials }: S3Settings): FileStore {
  const client = new S3Client({
    region,
    credentials,
    // Stores of other vendors have no host name per bucket, and not all support newer checksums.
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
    async remove(fileId) {
      const all = { Bucket: bucket, Prefix: keyOf(fileId, '') }
      let next: string | undefined
      // A listing has at most as many objects as one request can delete.
      do {
        const found = await client.send(
          new ListObjectsV2Command({ ...all, ContinuationToken: next }),
        )
        next = found.NextContinuationToken
        const Objects = (found.Contents ?? []).map(({ Key }) => ({ Key }))
        if (Objects.length === 0) continue
        const { Errors = [] } = await client.send(
          new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } }),
        )
        const [error] = Errors
        if (error) throw new Error(`cannot delete ${error.Key}: ${error.Code} ${error.Message}`)
      } while (next)
    },
  }
}
