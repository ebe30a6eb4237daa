# Writes a source with the functions of page_files.h.
#
#   cmake -DFOLDER=<of the files> -DOUT=<source> -P embed_page.cmake

set(source "#include \"service/server/page/page_files.h\"\n\nnamespace ttl {\n")

# embed(<function> <file>...): the texts of the files, one after the other.
function(embed name)
  set(texts)
  foreach(file IN LISTS ARGN)
    file(READ ${FOLDER}/${file} text)
    if(text MATCHES "\\)embedded\"")
      message(FATAL_ERROR "${file} has the end of a raw string in it")
    endif()
    string(APPEND texts "R\"embedded(${text})embedded\"\n")
  endforeach()
  string(APPEND source "\nabsl::string_view ${name}() {\n  return ${texts};\n}\n")
  set(source "${source}" PARENT_SCOPE)
endfunction()

embed(PageHtml status_page.html)
embed(PageStyle status_page.css)
embed(PageScript status_text.js forecast_part.js status_page.js)
file(WRITE ${OUT} "${source}\n}  // namespace ttl\n")
