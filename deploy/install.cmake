# What `cmake --install` installs, one component per package: programs, man pages, completions,
# units and examples. Man pages are made of --help, if help2man is there. The C++ client has its own,
# client/cpp/install.cmake.
if(NOT TTL_BUILD_SERVICE)
  return()
endif()
include(GNUInstallDirs)
find_program(HELP2MAN help2man)

# install_program(NAME SUMMARY): the program, its man page and its completion.
function(install_program name summary)
  install(TARGETS ${name} RUNTIME COMPONENT ${name})
  install(FILES ${PROJECT_SOURCE_DIR}/deploy/completion.bash RENAME ${name}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT ${name})
  if(NOT HELP2MAN)
    return()
  endif()
  set(page ${PROJECT_BINARY_DIR}/man/${name}.1)
  add_custom_command(OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/man
    COMMAND ${HELP2MAN} --no-info --name=${summary} --output=${page} $<TARGET_FILE:${name}>
    DEPENDS ${name}
    VERBATIM)
  list(APPEND man_pages ${page})
  set(man_pages ${man_pages} PARENT_SCOPE)
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${name})
endfunction()

set(man_pages)
install_program(ttl-sidecar "gives a store without TTL the TTL of Azure Cosmos DB")
install_program(ttlctl "command line of ttl-sidecar")
install_program(ttl-postgres "gives rows of a PostgreSQL database a time to live")
add_custom_target(man_pages ALL DEPENDS ${man_pages})

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
