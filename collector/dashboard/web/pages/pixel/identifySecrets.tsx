import { useState } from 'preact/hooks'
import { api, type Pixel } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { ConfirmDialog } from '../../components/confirmDialog.tsx'
import { Copyable } from '../../components/copyable.tsx'
import { Section } from '../../components/page.tsx'
import { toast } from '../../components/toast.tsx'
import { useQuery } from '../../useQuery.ts'

const dialogs = {
  rotate: {
    title: 'Rotate the identify secret?',
    action: 'Rotate secret',
    consequences:
      'A new secret is added. Signatures by the old one stay valid until you retire it.',
    act: api.rotateIdentifySecret,
    done: 'Secret rotated',
  },
  retire: {
    title: 'Retire the old identify secret?',
    action: 'Retire old secret',
    consequences: 'Identify calls signed with it are refused at once. You cannot restore it.',
    act: api.retireIdentifySecret,
    done: 'Old secret retired',
  },
}

/** The secrets with which a site's server signs identify calls, for project admins. */
export function PixelSecrets({ pixel: { pixel_id } }: { pixel: Pixel }) {
  const loaded = useQuery(() => api.getIdentifySecrets({ pixel_id }))
  const [open, setOpen] = useState<keyof typeof dialogs | null>(null)
  const isRotating = (loaded.value?.secrets.length ?? 0) > 1
  const next = isRotating ? 'retire' : 'rotate'
  return (
    <Section
      title="Sign identify"
      lead="Your server signs the hash of a signed-in visitor’s e-mail address with this secret. Never publish it."
      actions={
        loaded.value && (
          <button type="button" onClick={() => setOpen(next)}>
            {dialogs[next].action}
          </button>
        )
      }
    >
      <AsyncView query={loaded}>
        {({ secrets }) =>
          secrets.map(({ version, secret }, index) => (
            <div key={version}>
              <p class="hint">
                Version {version}
                {index > 0 && ': the old one, valid until it is retired'}
              </p>
              <Copyable label={`secret ${version}`} text={secret} />
            </div>
          ))
        }
      </AsyncView>
      {open && (
        <ConfirmDialog
          title={dialogs[open].title}
          action={dialogs[open].action}
          confirm={async () => {
            loaded.set(await dialogs[open].act({ pixel_id }))
            toast(dialogs[open].done)
            setOpen(null)
          }}
          close={() => setOpen(null)}
        >
          <p>{dialogs[open].consequences}</p>
        </ConfirmDialog>
      )}
    </Section>
  )
}
