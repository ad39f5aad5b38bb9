"""A backend of deepagents whose files are the texts of a body, tried with deepagents 0.7.32."""

from deepagents.backends import protocol, utils

from messagebody import MessageBody, Part
from messagebody.adapters import is_withheld
from messagebody.errors import MessageBodyError


class BodyBackend(protocol.BackendProtocol):
    def __init__(self, body: MessageBody) -> None:
        self.body = body

    def _files(self) -> dict[str, protocol.FileData]:
        texts = (part for part in self.body if part.name and part.text is not None)
        return {
            each.name: utils.create_file_data(each.text) for each in texts if not is_withheld(each)
        }

    def ls(self, path):
        place, found = path.rstrip("/") + "/", {}
        for name in self._files():
            entry, slash, _ = name.removeprefix(place).partition("/")
            if name.startswith(place):
                found[entry] = protocol.FileInfo(path=place + entry + slash, is_dir=bool(slash))
        return protocol.LsResult(entries=list(found.values()))

    def read(self, file_path, offset=0, limit=2000):
        if data := self._files().get(file_path):
            return utils.slice_read_response(data, offset, limit)
        return protocol.ReadResult(error=f"File '{file_path}' not found")

    def grep(self, pattern, path=None, glob=None, *, max_count=None):
        return utils.grep_matches_from_files(
            self._files(), pattern, path, glob, max_count=max_count
        )

    def glob(self, pattern, path=None):
        place, matches = (path or "/").rstrip("/") + "/", utils.compile_grep_include_glob(pattern)
        below = (name for name in self._files() if name.startswith(place))
        found = [
            protocol.FileInfo(path=each) for each in below if matches(each.removeprefix(place))
        ]
        return protocol.GlobResult(matches=found)

    def write(self, file_path, content):
        try:
            if is_withheld(Part(content, name=file_path)):
                return protocol.WriteResult(error=f"{file_path} is not for models")
            self.body[file_path] = content
        except MessageBodyError as error:
            return protocol.WriteResult(error=error.statement)
        return protocol.WriteResult(path=file_path)

    def edit(self, file_path, old_string, new_string, replace_all=False):
        text = self._files().get(file_path, {"content": ""})["content"]
        edited = utils.perform_string_replacement(text, old_string, new_string, replace_all)
        failure = edited if isinstance(edited, str) else self.write(file_path, edited[0]).error
        return protocol.EditResult(
            error=failure, path=file_path, occurrences=None if failure else edited[1]
        )
