/** What is counted with `SITES` alone: then every variable is a string, as the form of the deploy button needs it. */
export const DEFAULT_COUNTERS = {
  page_view: { record_type: 1, title: 'Page views', unit: 'views', unit_one: 'view', keys: 'pages', public: true },
  download: {
    record_type: 2,
    title: 'Downloads',
    unit: 'downloads',
    unit_one: 'download',
    keys: 'files',
    public: true,
  },
}
