# What `cmake --install` installs, one component per package: programs, man pages, completions,
# units and examples. ttlctl prints its man page and its completions; the other programs' pages are
# made of --help, if help2man is there. The C++ client has its own, client/cpp/install.cmake.
if(NOT TTL_BUILD_SERVICE)
  return()
endif()
include(GNUInstallDirs)
find_program(HELP2MAN help2man)

set(made_pages)

# install_page(NAME COMMAND...): what the command prints is the program's man page.
function(install_page name)
  set(page ${PROJECT_BINARY_DIR}/man/${name}.1)
  add_custom_command(OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/man
    COMMAND ${ARGN} > ${page}
    DEPENDS ${name}
    VERBATIM)
  set(made_pages ${made_pages} ${page} PARENT_SCOPE)
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${name})
endfunction()

# install_program(NAME SUMMARY): the program, its man page and its completion.
macro(install_program name summary)
  install(TARGETS ${name} RUNTIME COMPONENT ${name})
  install(FILES ${PROJECT_SOURCE_DIR}/deploy/completion.bash RENAME ${name}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT ${name})
  if(HELP2MAN)
    install_page(${name} ${HELP2MAN} --no-info --name=${summary} $<TARGET_FILE:${name}>)
  endif()
endmacro()

# install_ttlctl_completion(SHELL FOLDER FILE)
function(install_ttlctl_completion shell folder file)
  set(script ${PROJECT_BINARY_DIR}/completion/${shell}/${file})
  add_custom_command(OUTPUT ${script}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/completion/${shell}
    COMMAND ttlctl completion ${shell} > ${script}
    DEPENDS ttlctl
    VERBATIM)
  set(made_pages ${made_pages} ${script} PARENT_SCOPE)
  install(FILES ${script} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} COMPONENT ttlctl)
endfunction()

install_program(ttl-sidecar "gives a store without TTL the TTL of Azure Cosmos DB")
install_program(ttl-postgres "gives rows of a PostgreSQL database a time to live")
install(TARGETS ttlctl RUNTIME COMPONENT ttlctl)
install_page(ttlctl ttlctl man)
install_ttlctl_completion(bash bash-completion/completions ttlctl)
install_ttlctl_completion(zsh zsh/site-functions _ttlctl)
install_ttlctl_completion(fish fish/vendor_completions.d ttlctl.fish)
add_custom_target(man_pages ALL DEPENDS ${made_pages})

# install_unit(NAME): its template unit and its directories. systemd reads both from lib, wherever
# libraries are.
function(install_unit name)
  install(FILES ${PROJECT_SOURCE_DIR}/deploy/systemd/${name}@.service
    DESTINATION lib/systemd/system COMPONENT ${name})
  install(FILES ${PROJECT_SOURCE_DIR}/deploy/systemd/${name}.tmpfiles RENAME ${name}.conf
    DESTINATION lib/tmpfiles.d COMPONENT ${name})
endfunction()
install_unit(ttl-sidecar)
install_unit(ttl-postgres)
install(FILES ${PROJECT_SOURCE_DIR}/deploy/systemd/ttl-sidecar.sysusers RENAME ttl-sidecar.conf
  DESTINATION lib/sysusers.d COMPONENT ttl-sidecar)
install(FILES ${PROJECT_SOURCE_DIR}/deploy/sidecar.example.toml
    ${PROJECT_SOURCE_DIR}/deploy/access.example.yaml ${PROJECT_SOURCE_DIR}/deploy/containers.example.yaml
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT ttl-sidecar)
