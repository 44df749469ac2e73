/** Words from which generated people and companies are composed. */

const split = (
  lists: Record<string, string>,
  separator: string,
): Record<string, readonly string[]> =>
  Object.fromEntries(Object.entries(lists).map(([key, list]) => [key, list.split(separator)]))

const firstNameLists = {
  female:
    'Aisha Amara Anna Beatriz Camille Chloe Clara Daniela Elena Emma Fatima Grace Hannah Ingrid Isabel Jasmine Julia Karin Laura Leila Lucia Maria Mei Mia Nadia Naomi Olivia Priya Rachel Rosa Sakura Sara Simone Sofia Tessa Valentina Wanda Yara Zoe Zuzana',
  male: 'Adam Ahmed Alejandro Andre Anton Benjamin Carlos Daniel David Diego Elias Erik Felix Gabriel Hassan Henry Ivan Jack James Jonas Kenji Kofi Leon Liam Lucas Marco Mateo Mohammed Nathan Noah Oscar Pavel Quentin Rafael Samuel Thomas Tomas Victor Wei Yusuf',
  other: 'Alex Ariel Charlie Jamie Jordan Kai Morgan Noor Quinn Robin Sam Taylor',
}

export const firstNames: Record<string, readonly string[]> = split(firstNameLists, ' ')

export const lastNames =
  'Adler Almeida Andersson Bauer Becker Bennett Bianchi Brown Carter Castro Chen Clarke Cohen Collins Cooper Costa Davies Diaz Dubois Evans Fernandez Fischer Fontaine Garcia Gupta Haas Hansen Hernandez Hoffmann Hughes Ito Jackson Jansen Johansson Johnson Kamara Kapoor Keller Khan Kim Kowalski Larsen Lee Lopez Martin Mbeki Mendoza Meyer Miller Moreau Morris Murphy Nakamura Nguyen Novak Okafor Olsen Osei Park Patel Pereira Peterson Ramirez Reyes Ricci Roberts Rossi Santos Sato Schmidt Schneider Shah Silva Singh Smith Suzuki Svensson Tanaka Taylor Torres Tran Turner Vargas Vogel Walker Weber Williams Wilson Wong Wright Yamamoto Young Zhang Zimmermann'.split(
    ' ',
  )

export const companyFirst =
  'Alder Amber Apex Arbor Atlas Aurora Beacon Birch Blue Bright Canyon Cedar Cinder Citadel Clear Cobalt Copper Crest Delta Dune Eagle East Echo Elm Ember Falcon Fern First Forge Fox Gale Glacier Golden Granite Green Harbor Hazel Helio High Horizon Iron Ivory Juniper Keystone Lake Lark Laurel Lumen Maple Marble Meridian Mesa Mill North Nova Oak Onyx Opal Orchard Osprey Pine Pioneer Polar Prairie Quartz Raven Red Ridge River Rowan Sable Salt Silver Slate Solar Sterling Stone Summit Swift Tandem Thorn Timber Union Valley Vertex Vista West Willow Wren Zephyr'.split(
    ' ',
  )

export const companySecond =
  'bridge brook field ford gate grove haven hill house land line mark mere path peak point port side spring stead stone view ward water way well wood works yard'.split(
    ' ',
  )

/** Last words of company names, by industry. */
export const companyKinds = split(
  {
    'Business Services': 'Partners Consulting Advisory Services',
    Construction: 'Builders Construction Engineering',
    Education: 'Academy College Learning',
    'Energy and Utilities': 'Energy Power Utilities',
    'Financial Services': 'Capital Bank Insurance Financial',
    Government: 'County District Authority',
    Healthcare: 'Health Clinics Therapeutics Medical',
    Hospitality: 'Hotels Kitchens Travel',
    Manufacturing: 'Industries Manufacturing Tools Foods',
    'Media and Entertainment': 'Media Studios Press',
    'Non-profit': 'Foundation Trust Alliance',
    'Real Estate': 'Properties Realty Estates',
    Retail: 'Stores Outfitters Market Goods',
    Software: 'Software Labs Systems Cloud',
    Telecommunications: 'Telecom Networks Wireless',
    Transportation: 'Logistics Freight Lines',
  },
  ' ',
)

/** NAICS 2022 and SIC code of the main business, by industry. */
export const classifications: Record<string, readonly [string, string]> = {
  'Business Services': ['541611', '8742'],
  Construction: ['236220', '1542'],
  Education: ['611310', '8221'],
  'Energy and Utilities': ['221122', '4911'],
  'Financial Services': ['522110', '6022'],
  Government: ['921190', '9199'],
  Healthcare: ['622110', '8062'],
  Hospitality: ['721110', '7011'],
  Manufacturing: ['333517', '3541'],
  'Media and Entertainment': ['513120', '2721'],
  'Non-profit': ['813219', '8399'],
  'Real Estate': ['531210', '6531'],
  Retail: ['455110', '5311'],
  Software: ['513210', '7372'],
  Telecommunications: ['517111', '4813'],
  Transportation: ['484121', '4213'],
}

export interface Place {
  readonly city: string
  readonly region: string
  readonly country: string
  readonly timezone: string
  /** First digits of the postal codes. */
  readonly postal: string
  readonly latitude: number
  readonly longitude: number
  /** Country and area code; the rest is a number reserved for fiction. */
  readonly dial: string
}

const place = (line: string): Place => {
  const [city, region, country, timezone, postal, latitude, longitude, dial] = line.split('|')
  return {
    city: city!,
    region: region!,
    country: country!,
    timezone: timezone!,
    postal: postal!,
    latitude: Number(latitude),
    longitude: Number(longitude),
    dial: dial!,
  }
}

export const places: readonly Place[] = [
  'Austin|Texas|US|America/Chicago|787|30.27|-97.74|+1512',
  'Boston|Massachusetts|US|America/New_York|021|42.36|-71.06|+1617',
  'Chicago|Illinois|US|America/Chicago|606|41.88|-87.63|+1312',
  'Columbus|Ohio|US|America/New_York|432|39.96|-83|+1614',
  'Denver|Colorado|US|America/Denver|802|39.74|-104.99|+1303',
  'Los Angeles|California|US|America/Los_Angeles|900|34.05|-118.24|+1213',
  'Minneapolis|Minnesota|US|America/Chicago|554|44.98|-93.27|+1612',
  'New York|New York|US|America/New_York|100|40.71|-74.01|+1212',
  'Phoenix|Arizona|US|America/Phoenix|850|33.45|-112.07|+1602',
  'Portland|Oregon|US|America/Los_Angeles|972|45.52|-122.68|+1503',
  'Raleigh|North Carolina|US|America/New_York|276|35.78|-78.64|+1919',
  'San Francisco|California|US|America/Los_Angeles|941|37.77|-122.42|+1415',
  'Seattle|Washington|US|America/Los_Angeles|981|47.61|-122.33|+1206',
  'Tampa|Florida|US|America/New_York|336|27.95|-82.46|+1813',
  'Toronto|Ontario|CA|America/Toronto|M5V|43.65|-79.38|+1416',
  'London|England|GB|Europe/London|EC1A|51.51|-0.13|+4420',
  'Manchester|England|GB|Europe/London|M1|53.48|-2.24|+44161',
  'Dublin|Leinster|IE|Europe/Dublin|D02|53.35|-6.26|+3531',
  'Berlin|Berlin|DE|Europe/Berlin|101|52.52|13.41|+4930',
  'Hamburg|Hamburg|DE|Europe/Berlin|200|53.55|9.99|+4940',
  'Paris|Ile-de-France|FR|Europe/Paris|750|48.86|2.35|+331',
  'Amsterdam|North Holland|NL|Europe/Amsterdam|10|52.37|4.9|+3120',
  'Stockholm|Stockholm County|SE|Europe/Stockholm|111|59.33|18.07|+468',
  'Sydney|New South Wales|AU|Australia/Sydney|20|-33.87|151.21|+612',
].map(place)

export const streets =
  'Birch Broad Canal Castle Cedar Center Chestnut Church College Elm Forest Garden Grove High Hill King Lake Laurel Liberty Lincoln Main Maple Market Meadow Mill Oak Orchard Park Pearl Pine Prospect River Rose School Spring Station Union Walnut Washington Water'.split(
    ' ',
  )

export const jobFunctions = split(
  {
    'Customer Service': 'Support|Customer Success|Onboarding',
    Design: 'Product Design|Brand|Research',
    Engineering: 'Backend|Frontend|Quality|Data|Infrastructure',
    Finance: 'Accounting|Controlling|Treasury',
    'Human Resources': 'Recruiting|People Operations|Learning',
    'Information Technology': 'Networks|Security|Support',
    Legal: 'Contracts|Privacy|Compliance',
    Marketing: 'Demand Generation|Content|Brand|Events',
    Operations: 'Supply Chain|Facilities|Planning',
    Product: 'Product Management|Product Marketing',
    Purchasing: 'Sourcing|Vendor Management',
    Sales: 'Accounts|Business Development|Sales Operations',
  },
  '|',
)

export const jobSkills = split(
  {
    'Customer Service': 'Zendesk|Coaching|Escalations|CSAT',
    Design: 'Figma|Typography|Prototyping|Accessibility',
    Engineering: 'TypeScript|Python|Kubernetes|SQL|Testing|Go',
    Finance: 'Forecasting|SAP|Excel|Audit|Tax',
    'Human Resources': 'Interviewing|Payroll|Onboarding',
    'Information Technology': 'Linux|Azure|Firewalls|ITIL',
    Legal: 'Negotiation|GDPR|Litigation',
    Marketing: 'SEO|Copywriting|HubSpot|Analytics|Advertising',
    Operations: 'Lean|Forecasting|Six Sigma|Logistics',
    Product: 'Roadmaps|Discovery|Analytics|SQL',
    Purchasing: 'Negotiation|Contracts|SAP',
    Sales: 'Salesforce|Prospecting|Closing|Demos',
  },
  '|',
)

export const titles: Record<string, string> = {
  owner: 'Owner',
  c_suite: 'Chief {department} Officer',
  vice_president: 'Vice President of {department}',
  director: 'Director of {function}',
  manager: '{function} Manager',
  senior: 'Senior {function} Specialist',
  staff: '{function} Specialist',
  entry: 'Junior {function} Associate',
}

export const technologies =
  'Cloudflare|Fastly|Google Analytics|HubSpot|Intercom|Magento|Marketo|Nginx|Next.js|React|Salesforce|Segment|Shopify|Stripe|Vue.js|WordPress|Zendesk'.split(
    '|',
  )

export const interests =
  'Baking|Basketball|Camping|Ceramics|Cooking|Cycling|Film|Fishing|Football|Gardening|Golf|Hiking|History|Investing|Jazz|Photography|Podcasts|Reading|Running|Sailing|Skiing|Swimming|Tennis|Theatre|Travel|Wine|Woodworking|Yoga'.split(
    '|',
  )

export const purchases =
  'Apparel|Appliances|Audio|Books|Cookware|Cosmetics|Electronics|Furniture|Groceries|Home Improvement|Outdoor|Pet Supplies|Shoes|Sporting Goods|Toys|Travel'.split(
    '|',
  )

export const vehicles =
  'Audi|BMW|Ford|Honda|Hyundai|Kia|Mazda|Nissan|Renault|Skoda|Subaru|Tesla|Toyota|Volkswagen|Volvo'.split(
    '|',
  )

export const occupations =
  'Administrative Support|Business Operations|Computer and Mathematical|Education|Engineering|Finance|Healthcare|Legal|Management|Media|Production|Sales|Transportation'.split(
    '|',
  )

/** Hosts of personal mail; names under .example are reserved (RFC 2606). */
export const mailHosts = ['mail.example', 'inbox.example', 'postbox.example', 'webmail.example']
