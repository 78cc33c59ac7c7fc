// Exports of other counters, made up after what their documentation and source say.

/** GoatCounter: https://www.goatcounter.com/help/export */
export const GOATCOUNTER = `2Path,Title,Event,UserAgent,Browser,System,Session,Bot,Referrer,Referrer scheme,Screen size,Location,FirstVisit,Date
/,Home,false,,Firefox 145,Linux,2xyc1,0,https://news.example,h,"1920,1080,1",DE,true,2026-10-31T10:00:00Z
/,Home,false,,Firefox 145,Linux,2xyc1,0,,,"1920,1080,1",DE,false,2026-10-31T10:05:00Z
"/blog/a,b","A ""quoted"" title",false,,Safari 19,iOS,2xyc2,0,,,"390,844,3",FR-75,true,2026-11-01T00:30:00+01:00
/,Home,false,,Chrome 142,Windows,2xyc3,0,,,,,true,2026-11-01T12:00:00Z
/,Home,false,,Chrome 142,Windows,2xyc4,3,,,,,true,2026-11-01T12:00:01Z
get-app,Download,true,,Chrome 142,Windows,2xyc3,0,,,,,true,2026-11-01T12:01:00Z
/late,Late,false,,Chrome 142,Windows,2xyc5,0,,,,,true,2999-01-01T00:00:00Z
,Nothing,false,,Chrome 142,Windows,2xyc6,0,,,,,true,2026-11-01T12:02:00Z
`

/** Plausible, the file imported_pages_20261031_20261101.csv */
export const PLAUSIBLE = `"date","hostname","page","visits","visitors","pageviews","total_scroll_depth","total_scroll_depth_visits","total_time_on_page","total_time_on_page_visits"
"2026-10-31","blog.example","/",8,7,12,550,8,300,8
"2026-10-31","blog.example","/about",2,2,3,100,2,60,2
"2026-11-01","blog.example","/",4,4,4,210,4,90,4
"2999-01-01","blog.example","/late",1,1,1,0,0,0,0
`

/** GitHub: the answer to GET /repos/OWNER/REPO/releases, without what is not read */
export const GITHUB_RELEASES = JSON.stringify(
  [
    {
      url: 'https://api.github.com/repos/example/app/releases/3',
      tag_name: 'v1.2.0',
      draft: true,
      published_at: null,
      assets: [{ name: 'app-1.2.0.tgz', state: 'uploaded', size: 1024, download_count: 1 }],
    },
    {
      url: 'https://api.github.com/repos/example/app/releases/2',
      tag_name: 'v1.1.0',
      draft: false,
      published_at: '2026-10-01T09:00:00Z',
      assets: [
        { name: 'app-1.1.0.tgz', state: 'uploaded', size: 1024, download_count: 4711 },
        { name: 'app-1.1.0.tgz.sig', state: 'uploaded', size: 96, download_count: 0 },
      ],
    },
    {
      url: 'https://api.github.com/repos/example/app/releases/1',
      tag_name: 'v1.0.0',
      draft: false,
      published_at: '2026-09-01T09:00:00Z',
      assets: [{ name: 'app-1.0.0.tgz', state: 'uploaded', size: 1024, download_count: 20 }],
    },
  ],
  null,
  2,
)
