import { useEffect, useState } from 'preact/hooks'
import { timeZoneOrUtc } from '../../../../platform/timeZone.ts'
import { ApiError, api } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { Logo } from '../../components/logo.tsx'
import { Page } from '../../components/page.tsx'
import { exactTime } from '../../components/time.ts'
import { shareSecret } from '../../shared.ts'
import { useQuery } from '../../useQuery.ts'
import { zone } from '../../zone.ts'
import { Overview } from '../overview/overview.tsx'

/** The page of a share link: the overview without a sign-in. */
export function SharedPage({ shareId }: { shareId: string }) {
  useState(() => {
    shareSecret.value = location.hash.slice(1)
  })
  useEffect(
    () => () => {
      shareSecret.value = null
    },
    [],
  )
  const link = useQuery(async () => {
    try {
      const { share_link } = await api.getShareLink({ share_id: shareId })
      const now = Date.now()
      const { meta } = await api.getAnalyticsOverview({
        project_id: share_link.project_id,
        start_ms: now,
        end_ms: now + 1,
      })
      zone.value = timeZoneOrUtc(meta.time_zone)
      return share_link
    } catch (error) {
      if (error instanceof ApiError && [400, 401, 404].includes(error.status)) return null
      throw error
    }
  })
  return (
    <div class="shared">
      <header class="brand">
        <Logo />
        Footfall
      </header>
      <main>
        <AsyncView query={link} lines={12}>
          {(found) =>
            found ? (
              <Overview
                projectId={found.project_id}
                title={found.name}
                lead={`${found.pixel_name ?? found.project_name}, shared until ${exactTime(found.expires_at)}. URLs that may describe a person are left out.`}
              />
            ) : (
              <Page title="This link no longer works">
                <p>This link is invalid, expired or revoked. Ask the sender for a new one.</p>
              </Page>
            )
          }
        </AsyncView>
      </main>
    </div>
  )
}
