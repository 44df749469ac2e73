import tagManager from '../../../../../examples/google-tag-manager.html'
import nextjs from '../../../../../examples/nextjs/layout.jsx'
import react from '../../../../../examples/react/Footfall.jsx'
import shopifyCheckout from '../../../../../examples/shopify/customer-events.js'
import shopifyTheme from '../../../../../examples/shopify/footfall.liquid'
import wordpress from '../../../../../examples/wordpress.php'
import type { Pixel } from '../../api.ts'

/** A step of a guide: its instruction and its code. */
interface InstallStep {
  /** Parts in backticks are code. */
  what: string
  /** Name of the code that the button copies. */
  label: string
  code: string
}

export const platforms = {
  html: 'Plain HTML',
  tagManager: 'Google Tag Manager',
  wordpress: 'WordPress',
  react: 'React',
  nextjs: 'Next.js',
  shopify: 'Shopify',
}
export type Platform = keyof typeof platforms

/**
 * Returns the steps to install the pixel on a site. The code is that of examples/, with the pixel's own id
 * and address.
 */
export function installSteps(
  platform: Platform,
  { pixel_id, script_url, snippet }: Pixel,
): InstallStep[] {
  const collector = script_url.replace(/\/p\/[^/]+$/, '')
  const from = (example: string) =>
    withoutInstructions(example)
      .replaceAll('PIXEL_ID', pixel_id)
      .replaceAll('http://127.0.0.1:8787', collector)
  switch (platform) {
    case 'html':
      return [
        { what: 'Paste this into the `head` of every page.', label: 'the snippet', code: snippet },
      ]
    case 'tagManager':
      return [
        {
          what: 'Create a new tag of type “Custom HTML” with the trigger “All Pages”, paste this, and publish.',
          label: 'the tag',
          code: from(tagManager),
        },
        {
          what: 'If the pixel waits for consent: create a second tag, with the trigger of your consent banner.',
          label: 'the consent tag',
          code: "<script>footfall('consent', 'granted')</script>",
        },
      ]
    case 'wordpress':
      return [
        {
          what: 'Save this as `wp-content/mu-plugins/footfall.php`. It is a plugin that is always active.',
          label: 'the plugin',
          code: from(wordpress),
        },
      ]
    case 'react':
      return [
        { what: 'Save this as `Footfall.jsx`.', label: 'the component', code: from(react) },
        {
          what: 'Add it next to your root component.',
          label: 'the element',
          code: `<Footfall pixelId="${pixel_id}" endpoint="${collector}" />`,
        },
      ]
    case 'nextjs':
      return [
        {
          what: 'App router: add both scripts to the `head` of `app/layout.jsx`. Routes need no further code.',
          label: 'the layout',
          code: from(nextjs),
        },
      ]
    case 'shopify':
      return [
        {
          what: "Save this as `snippets/footfall.liquid` of your theme, and put `{% render 'footfall' %}` into the `head` of `layout/theme.liquid`.",
          label: 'the theme’s snippet',
          code: from(shopifyTheme),
        },
        {
          what: 'The checkout does not use the theme. In Settings, Customer events, add a custom pixel with this code.',
          label: 'the checkout’s pixel',
          code: from(shopifyCheckout),
        },
      ]
  }
}

/** Removes the instructions at the beginning of an example, and its hints for placeholders. */
const withoutInstructions = (example: string): string =>
  example
    .replace(
      /^(?:<!--[\s\S]*?-->|\/\*\*[\s\S]*?\*\/|\{% comment %\}[\s\S]*?\{% endcomment %\})\n+/,
      '',
    )
    .replace(/^\/\/ .*in place of PIXEL_ID.*\n/m, '')
    .trimEnd()
