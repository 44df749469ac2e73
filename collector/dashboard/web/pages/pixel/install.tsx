import type { Pixel } from '../../api.ts'
import { Copyable } from '../../components/copyable.tsx'
import { Section } from '../../components/page.tsx'
import { TabPanel, Tabs } from '../../components/tabs.tsx'
import { currentPath, Link } from '../../router.tsx'
import { useSession } from '../../session.ts'
import { urlChoice } from '../../urlState.ts'
import { consentCall, consentOptions } from './consent.ts'
import { installSteps, type Platform, platforms } from './installGuides.ts'

const names = Object.keys(platforms) as Platform[]

/** How to install the pixel, by type of site. */
export function Install({ pixel }: { pixel: Pixel }) {
  const { organization } = useSession()
  const [platform, choose] = urlChoice('platform', names)
  return (
    <Section
      title="Put it on your site"
      lead="The code below contains the id and address of this pixel."
    >
      <Tabs
        set="platform"
        label="Type of site"
        tabs={platforms}
        current={platform}
        choose={choose}
      />
      {names.map((name) => (
        <TabPanel key={name} set="platform" tab={name} current={platform}>
          {name === platform && (
            <ol class="steps">
              {installSteps(name, pixel).map(({ what, label, code }) => (
                <li key={label}>
                  <p>{withCode(what)}</p>
                  <Copyable label={label} text={code} />
                </li>
              ))}
            </ol>
          )}
        </TabPanel>
      ))}
      <p class="hint">
        Consent: {consentOptions[pixel.settings.consent]}
        {pixel.settings.consent !== 'granted' && consentCall}.{' '}
        <Link href={`${currentPath.value}?tab=privacy`}>Change it</Link>
      </p>
      <p class="hint">
        Page views, clicks, scrolling and more are recorded without further code. Read the events
        with an <Link href={`/${organization.organization_id}/settings/api-keys`}>API key</Link>.
      </p>
    </Section>
  )
}

/** Returns a sentence whose parts in backticks are code. */
const withCode = (text: string) =>
  text.split('`').map((part, index) => (index % 2 === 1 ? <code key={part}>{part}</code> : part))
