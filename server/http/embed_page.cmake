# Puts the status page together: cmake -DPAGE=page -DOUTPUT=page.cc -P embed_page.cmake
#
# index.html has the places where the style sheet and the scripts go, so that the page is one
# document. The scripts share one scope, in this order.

cmake_minimum_required(VERSION 3.25)

file(READ ${PAGE}/style.css style)
set(script "")
foreach(name format chart heat_map tables main)
  file(READ ${PAGE}/${name}.js part)
  string(APPEND script "${part}")
endforeach()
file(READ ${PAGE}/index.html html)
string(REPLACE "/* style.css */" "${style}" html "${html}")
string(REPLACE "// scripts" "${script}" html "${html}")
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT
"#include \"server/http/status_site.h\"

namespace bigtable::server {

const std::string_view kStatusPage = R\"status_page(@html@)status_page\";

}  // namespace bigtable::server
")
