import { createReadStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import type { S3Settings } from '../../config.ts'
import type { FileStore } from './fileStore.ts'
import { deleteObjects, openS3Client } from './s3Client.ts'

/** Stores parts as objects, each atomically: S3 does not show incomplete ones. */
export function openS3Store(settings: S3Settings): FileStore {
  const { bucket } = settings
  const client = openS3Client(settings)
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
        const listing = await client.send(
          new ListObjectsV2Command({ ...all, ContinuationToken: next }),
        )
        next = listing.NextContinuationToken
        const keys = (listing.Contents ?? []).map(({ Key }) => Key!)
        if (keys.length > 0) await deleteObjects(client, bucket, keys)
      } while (next)
    },
  }
}
