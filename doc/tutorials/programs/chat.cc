// SPDX-License-Identifier: GPL-2.0-or-later
// chat: a chat server whose users come and go; a user who leaves stays in a cache.
//
// 3000 users join, each with a history of messages. Most leave: the server drops their
// histories, but keeps their profiles in a map that only grows. It prints a line and waits
// for a signal.
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

namespace chat {

struct Message {
	virtual ~Message() = default;
	long id = 0;
	std::string text = std::string(200, 'm');
};

struct Profile {
	virtual ~Profile() = default;
	std::string name;
	char picture[900] = {};
};

struct User {
	std::unique_ptr<Profile> profile = std::make_unique<Profile>();
	std::vector<std::unique_ptr<Message>> history;
};

class Server {
public:
	void join(long id)
	{
		User user;

		user.profile->name = "user-" + std::to_string(id);
		for (long i = 0; i < 40; i++)
			user.history.push_back(std::make_unique<Message>());
		users[id] = std::move(user);
	}

	void leave(long id)
	{
		cache[id] = std::move(users[id].profile);
		users.erase(id);
	}

private:
	std::map<long, User> users;
	std::map<long, std::unique_ptr<Profile>> cache;
};

} // namespace chat

int main()
{
	static chat::Server server;

	for (long id = 0; id < 3000; id++)
		server.join(id);
	for (long id = 0; id < 3000; id++)
		if (id % 10 != 0)
			server.leave(id);
	puts("./chat: 300 users online");
	fflush(stdout);
	for (;;)
		pause();
}
